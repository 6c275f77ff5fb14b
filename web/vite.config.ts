import { defineConfig, type UserConfig } from 'vite';

/**
 * Two builds into the package that serves them: the page (`vite build`), then the script for other pages
 * (`vite build --mode widget`), one file under a name that stays.
 */

const OUT = '../assistant/web';
/** `light-dark()`, container queries, `:dir()`: browsers of 2024 and later, named so that nothing is rewritten for older ones. */
const TARGET = ['chrome123', 'edge123', 'firefox120', 'safari17.5'];

const page: UserConfig = {
  base: './',
  build: { outDir: OUT, emptyOutDir: true, target: TARGET, modulePreload: { polyfill: false } },
};

const widget: UserConfig = {
  build: {
    outDir: OUT,
    emptyOutDir: false,
    target: TARGET,
    copyPublicDir: false,
    lib: { entry: 'src/widget.ts', formats: ['iife'], name: 'AssistantChat', fileName: () => 'assistant-chat.js' },
  },
};

export default defineConfig(({ mode }) => (mode === 'widget' ? widget : page));
