// @vitest-environment happy-dom
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { spansOf } from '../src/citations';
import { cite, doubt, draw, drawText, points, skeleton, span, words } from './dom';

/** Draw with each sentence cited by its place in the list. */
const cited = (answer: string, sentences: string[]): Element =>
  draw(
    answer,
    sentences.map((text, i) => cite(i + 1, span(answer, text))),
  );

describe('buttons stand after their sentence', () => {
  it('in running text', () => {
    const answer = 'You get 25 days. Leave lapses in March. Ask HR.';
    expect(words(cited(answer, ['You get 25 days.', 'Leave lapses in March.']))).toBe(
      'You get 25 days.[1] Leave lapses in March.[2] Ask HR.',
    );
  });

  it('when offsets are code points and the text has emoji and rare characters', () => {
    const answer = '👩‍🚀🌴 Leave is 25 days 🎉. 𠮷野家 is closed. 🇩🇪 Done.';
    expect(words(cited(answer, ['👩‍🚀🌴 Leave is 25 days 🎉.', '𠮷野家 is closed.', '🇩🇪 Done.']))).toBe(
      '👩‍🚀🌴 Leave is 25 days 🎉.[1] 𠮷野家 is closed.[2] 🇩🇪 Done.[3]',
    );
  });

  it('in Chinese, where nothing but the full stop ends a sentence', () => {
    const answer = '年假为二十五天。**未休年假**须在三月前使用。其余作废。';
    expect(words(cited(answer, ['年假为二十五天。', '**未休年假**须在三月前使用。', '其余作废。']))).toBe(
      '年假为二十五天。[1]未休年假须在三月前使用。[2]其余作废。[3]',
    );
  });

  it('in table rows, wherever in the row the span ends', () => {
    const answer = '| Kind | Days |\n|---|---|\n| full | 25 |\n| part | 12 |\n\nEnd.';
    for (const rows of [
      ['| full | 25 |', '| part | 12 |'],
      ['full | 25', 'part | 12'],
      ['| full | 25 |\n', '| part | 12 |\n'],
    ]) {
      const root = cited(answer, rows);
      const cells = [...root.querySelectorAll('tbody td')].map(words);
      expect(cells).toEqual(['full', '25[1]', 'part', '12[2]']);
    }
  });

  it('in tables whose span covers the whole table', () => {
    const answer = '| a | b |\n|---|---|\n| 1 | 2 |\n';
    const root = cited(answer, [answer]);
    expect(words(root.querySelectorAll('td')[1]!)).toBe('2[1]');
  });

  it('in lists, nested ones and tasks', () => {
    const answer = '- One.\n  - Two.\n- [x] Three.\n\n1. Four.\n2. Five.';
    const root = cited(answer, ['- One.', '  - Two.', '- [x] Three.', '1. Four.', '2. Five.']);
    expect(root.querySelectorAll('li')).toHaveLength(5);
    expect(words(root).replaceAll('] ', ']')).toBe('One.[1]Two.[2]☑ Three.[3]Four.[4]Five.[5]');
  });

  it('behind emphasis, code, links and closing signs', () => {
    const answer =
      '**Bold sentence.** Next `code`. See [the page](https://a.example/x). (In brackets.) “Quoted.” *a* **b**';
    const root = cited(answer, [
      '**Bold sentence.',
      'Next `code`',
      '[the page',
      '(In brackets.',
      '“Quoted.',
      '*a',
      '**b',
    ]);
    expect(words(root)).toBe(
      'Bold sentence.[1] Next code.[2] See the page (a.example)[3]. (In brackets.)[4] “Quoted.”[5] a[6] b[7]',
    );
    expect(root.querySelector('a button')).toBeNull();
  });

  it('behind headings, quotes and code blocks', () => {
    const answer = '## Title\n\n> Quote one.\n> Quote two.\n\n```\ncode line\n```\n\nText.';
    const root = cited(answer, ['## Title', '> Quote one.', '> Quote two.', '```\ncode line\n```', 'Text.']);
    expect(root.querySelector('h4 button')!.textContent).toBe('[1]');
    expect(root.querySelector('pre')!.textContent).toBe('code line');
    expect(words(root)).toBe('Title[1]Quote one.[2]Quote two.[3]code line[4]Text.[5]');
  });

  it('together where several end, sorted and each number once', () => {
    const answer = 'One sentence.';
    const at = span(answer, answer);
    expect(words(draw(answer, [cite(3, at), cite(1, at), cite(3, at)]))).toBe('One sentence.[1][3]');
  });

  it('when spans overlap or lie in each other', () => {
    const answer = 'Alpha beta gamma delta.';
    expect(words(cited(answer, ['Alpha beta gamma', 'beta gamma delta.', 'beta']))).toBe(
      'Alpha beta[3] gamma[1] delta.[2]',
    );
  });
});

describe('spans that make no sense', () => {
  it('draw nothing twice and lose no text', () => {
    const answer = 'Text of the answer.';
    for (const [start, end] of [
      [-5, 4],
      [3, 3],
      [9, 2],
      [0, 9999],
      [5000, 6000],
      [NaN, 4],
      [0.5, 2.5],
    ] as const) {
      const root = draw(answer, [cite(1, { start, end })], [doubt({ start, end })]);
      expect(words(root).replace(/\[1\]/g, '').trim()).toBe(answer);
      expect(root.querySelectorAll('button').length).toBeLessThanOrEqual(1);
    }
  });

  it('are joined when equal; the verdict of the sentence wins', () => {
    const at = { start: 0, end: 4 };
    const spans = spansOf({
      status: 'partial',
      items: [cite(2, at), cite(1, at)],
      unsupported: [doubt(at)],
      agreement: 1,
    });
    expect(spans).toHaveLength(1);
    expect(spans[0]).toMatchObject({ verdict: 'unsupported', citations: [{ n: 1 }, { n: 2 }] });
  });
});

describe('a model that writes marks', () => {
  it('cannot: private characters do not reach the lexer, references are not read as marks', () => {
    const forged = 'A\u2e4f\ue001\u2e4f b. Real sentence. &#11855;&#57345;&#11855; end';
    const root = draw(forged, [cite(1, span(forged, 'Real sentence.'))]);
    expect(root.querySelectorAll('button')).toHaveLength(1);
    expect(words(root)).toContain('Real sentence.[1]');
  });
});

describe('sentences without support', () => {
  it('are marked from their first to their last word, through emphasis and code', () => {
    const answer = 'Fine. Paid in **December** by `wire`. Fine.';
    const root = draw(answer, [], [doubt(span(answer, 'Paid in **December** by `wire`.'))]);
    expect([...root.querySelectorAll('s')].map((s) => s.textContent).join('')).toBe('Paid in December by wire.');
  });

  it('are marked in list items without their bullet', () => {
    const answer = '- One.\n- Two.\n';
    const root = draw(answer, [], [doubt(span(answer, '- Two.'))]);
    expect(root.querySelectorAll('li')).toHaveLength(2);
    expect([...root.querySelectorAll('s')].map((s) => s.textContent).join('')).toBe('Two.');
  });
});

describe('marks never change the structure', () => {
  const block = fc.constantFrom(
    'A plain sentence. Another one!',
    '**Bold.** Then *italic*.',
    '- one\n- two\n  - three',
    '1. first\n2. second',
    '| a | b |\n|:--|--:|\n| 1 | **2** |\n| x \\| y | `z` |',
    '> quoted. Twice.',
    '```py\nprint("x")\n```',
    '# Heading',
    'Title\n=====',
    '    indented code',
    '中文句子。**重点：**内容！第二句？',
    '**注意。**然后',
    'See [link](https://a.example/b?c=d) now.',
    'https://a.example/path and www.b.example.',
    '`code` & R&amp;D <b>x</b>',
    '---',
    '👩‍🚀 emoji 🎉. 𠮷',
    '- [ ] task\n- [x] done',
    'a\\*b \\_c\\_ 5 * 3',
    '[r]\n\n[r]: https://a.example',
    'line one\nline two',
    '~~gone~~ _under_ __strong__',
    '***both*** text',
    '<div>\nhtml\n</div>',
    '* a\n* b',
    '',
  );
  const answers = fc.array(block, { minLength: 1, maxLength: 6 }).map((blocks) => blocks.join('\n\n'));

  it('wherever spans start and end, and every number is drawn once', () => {
    fc.assert(
      fc.property(answers, fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 6 }), (answer, places) => {
        const size = points(answer) + 1;
        const spans = places
          .map(([a, b]) => ({ start: Math.min(a % size, b % size), end: Math.max(a % size, b % size) }))
          .filter((at) => at.start < at.end);
        const drawn = drawText(
          answer,
          spans.map((at, i) => cite(i + 1, at)),
          spans.slice(0, 2).map(doubt),
        );
        expect(skeleton(drawn)).toBe(skeleton(drawText(answer)));
        const numbers = [...drawn.matchAll(/<button>\[(\d+)\]/g)].map((match) => Number(match[1]));
        expect(numbers.sort((a, b) => a - b)).toEqual(spans.map((_, i) => i + 1));
      }),
      { numRuns: 150 },
    );
  });

  it('for any text at all', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.nat(), fc.nat(), (answer, a, b) => {
        const size = points(answer) + 1;
        const at = { start: Math.min(a % size, b % size), end: Math.max(a % size, b % size) };
        expect(skeleton(drawText(answer, [cite(1, at)]))).toBe(skeleton(drawText(answer)));
      }),
      { numRuns: 150 },
    );
  });
});
