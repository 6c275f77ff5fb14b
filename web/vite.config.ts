import { defineConfig, type Plugin } from 'vite';

/**
 * One build into the package that serves it. `assistant-chat.js` keeps its name: the page (public/index.html) loads it,
 * and so does the one script tag of another page. It holds the shell; the answer view, the source panel and the plan are
 * chunks under hashed names that it asks for when they are needed. `embed.js` is the inside of the frame that embed.html is,
 * `embed-host.js` its other side, on the page of a portal.
 */

/** `light-dark()`, container queries, `:dir()`: browsers of 2024 and later, named so that nothing is rewritten for older ones. */
const TARGET = ['chrome123', 'edge123', 'firefox120', 'safari17.5'];

/**
 * Only marked's lexer is used, but its module makes an instance of everything when it loads, which no tree shaking may
 * drop. Cut the module behind the lexer; when its layout has changed, leave it whole.
 */
const lexerOnly: Plugin = {
  name: 'lexer-only',
  apply: 'build',
  transform(code, id) {
    if (!id.includes('marked.esm.js')) return null;
    const lexer = /(\w+) as Lexer\b/.exec(code)?.[1];
    const end = code.search(/var \w+=new \w+;function \w+\(\w+,\w+\)\{return \w+\.parse\(/);
    if (lexer && end > 0) return { code: `${code.slice(0, end)}export{${lexer} as Lexer};`, map: null };
    this.warn('marked has changed, its parser is bundled too');
    return null;
  },
};

/** Indentation inside templates is white space in HTML; one line break says the same. */
const lessIndentation: Plugin = {
  name: 'less-indentation',
  apply: 'build',
  enforce: 'pre',
  transform(code, id) {
    return id.includes('/src/') && id.endsWith('.ts') ? { code: code.replace(/\n +/g, '\n'), map: null } : null;
  },
};

/** The audit page, which `vite build --mode audit` adds to the rest: built together, what both share would split the script of every page. */
const AUDIT = { 'assistant-audit': 'src/audit/page.ts' };

export default defineConfig(({ mode }) => ({
  base: './',
  plugins: [lexerOnly, lessIndentation],
  build: {
    outDir: '../assistant/web',
    emptyOutDir: mode !== 'audit',
    target: TARGET,
    modulePreload: false,
    rolldownOptions: {
      input: mode === 'audit' ? AUDIT : { 'assistant-chat': 'src/widget.ts', embed: 'src/embed.ts', 'embed-host': 'src/embed-host.ts' },
      preserveEntrySignatures: 'allow-extension',
      output: { entryFileNames: '[name].js', chunkFileNames: 'assets/[name]-[hash].js' },
    },
  },
}));
