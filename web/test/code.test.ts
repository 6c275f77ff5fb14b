// @vitest-environment happy-dom
import fc from 'fast-check';
import { html, render } from 'lit';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { spansOf } from '../src/citations';
import { isJson, renderCode } from '../src/code';
import { AssistantTurn } from '../src/components/turn';
import type { Citation, CitationsAdded, TurnPlanned } from '../src/protocol';
import { EMPTY, reduce } from '../src/reducer';
import { cite, doubt, points, span } from './dom';
import { numbered, turnEvents } from './transcript';

const ANSWER = JSON.stringify(
  { title: '年假 🌴 <img src=x onerror=alert(1)>', days: 25, notes: ['It is 25 days.', 'مرحبا & <b>no</b>.'] },
  null,
  1,
);

const added = (items: Citation[], unsupported: CitationsAdded['unsupported'] = []): CitationsAdded => ({
  status: 'partial',
  items,
  unsupported,
  agreement: null,
});

function drawn(text: string, citations: CitationsAdded): HTMLElement {
  const root = document.createElement('div');
  const painter = {
    text: (piece: string, active: readonly { verdict: string }[]) =>
      active.some((one) => one.verdict === 'unsupported') ? html`<s>${piece}</s>` : piece,
    buttons: (one: { citations: Citation[] }) => one.citations.map((c) => html`<button>[${c.n}]</button>`),
  };
  render(html`<pre>${renderCode(text, spansOf(citations), painter)}</pre>`, root);
  return root;
}

describe('JSON as code', () => {
  it('is told from a refusal', () => {
    for (const text of [ANSWER, '{}', '[]', '"a"', '3']) expect(isJson(text)).toBe(true);
    for (const text of ['', 'The documents do not say.', '文档中没有答案。', '{"a": ']) expect(isJson(text)).toBe(false);
  });

  it('is the text, with a button where each span ends', () => {
    const root = drawn(
      ANSWER,
      added([cite(1, span(ANSWER, '年假 🌴')), cite(2, span(ANSWER, 'It is 25 days.'))], [doubt(span(ANSWER, '<b>no</b>'))]),
    );
    expect(root.textContent).toBe(ANSWER.replace('年假 🌴', '年假 🌴[1]').replace('25 days.', '25 days.[2]'));
    expect(root.querySelector('s')!.textContent).toBe('<b>no</b>');
    expect(root.querySelector('img, b')).toBeNull();
  });

  it('loses and repeats nothing, wherever spans start and end', () => {
    const at = fc.tuple(fc.nat(40), fc.nat(40)).map(([a, b]) => ({ start: Math.min(a, b), end: Math.max(a, b) }));
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.array(at, { maxLength: 6 }), (text, spans) => {
        const items = spans.map((one, i) => cite(i + 1, one));
        const root = drawn(text, added(items));
        const numbers = [...root.querySelectorAll('button')].map((button) => {
          button.remove();
          return button.textContent;
        });
        expect(root.textContent).toBe(text);
        const kept = spansOf(added(items)).flatMap((one) => one.citations.map((c) => `[${c.n}]`));
        expect(numbers.sort()).toEqual(kept.sort());
      }),
    );
  });

  it('takes an answer of 100,000 characters', () => {
    const long = JSON.stringify({ text: '长'.repeat(100_000) });
    expect(drawn(long, added([cite(1, { start: 10, end: points(long) })])).textContent).toBe(`${long}[1]`);
  });
});

describe('the turn', () => {
  afterEach(() => {
    document.body.replaceChildren();
    vi.unstubAllGlobals();
  });

  async function turnOf(text: string, plan: object, citations: CitationsAdded | null = null): Promise<ShadowRoot> {
    const turn = numbered(turnEvents('t1', 'q', [text])).reduce(reduce, EMPTY).turns[0]!;
    const element = new AssistantTurn();
    const whole = { evidence: [], budget: { dropped: [] }, ...plan } as unknown as TurnPlanned;
    Object.assign(element, { turn: { ...turn, plan: whole, citations }, locale: 'en' });
    document.body.append(element);
    await element.updateComplete;
    return element.shadowRoot!;
  }

  it('shows a structured answer as a code block that can be copied as it was written, and cites in it', async () => {
    const copied = vi.fn(() => Promise.resolve());
    vi.stubGlobal('navigator', { clipboard: { writeText: copied } });
    const root = await turnOf(ANSWER, { structured: true }, added([cite(7, span(ANSWER, 'It is 25 days.'))]));
    const code = root.querySelector('figure.code pre code')!;
    expect(code.querySelector('button.cite')!.textContent!.trim()).toBe('7');
    expect(code.querySelector('img, b')).toBeNull();
    const buttons = root.querySelectorAll<HTMLButtonElement>('button[aria-label="Copy answer"]');
    expect(buttons).toHaveLength(1);
    buttons[0]!.click();
    expect(copied).toHaveBeenCalledWith(ANSWER);
  });

  it('shows a refusal, and JSON that nobody asked for, as markdown', async () => {
    expect((await turnOf('The documents do not say.', { structured: true })).querySelector('.code')).toBeNull();
    expect((await turnOf('[1]', {})).querySelector('.code')).toBeNull();
  });
});
