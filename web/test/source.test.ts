// @vitest-environment happy-dom
import { afterEach, describe, expect, it, vi } from 'vitest';

import { ApiError } from '../src/api';
import { AssistantSource } from '../src/components/source';
import { AssistantTurn } from '../src/components/turn';
import type { Locale } from '../src/i18n';
import { pastSourceOf, type PastSource } from '../src/past-source';
import type { SourceState } from '../src/protocol';
import { EMPTY, reduce, type TurnState } from '../src/reducer';
import { sourceWords } from '../src/words/source';
import { cite } from './dom';
import { numbered, turnEvents } from './transcript';

const HOSTILE = '<img src=x onerror=alert(1)><script>1</script> \u202eevil\u202c مرحبا &amp; </del></blockquote> ';

/** A source as the server gives it; the cited sentence says 20, the one of today says 25. */
const body = (more: object = {}): Record<string, unknown> => ({
  version: 2,
  date: '2023-05-01',
  before: 'Leave. ',
  exact: 'You get 20 days.',
  after: ' Ask first.',
  state: 'changed',
  current: { version: 3, date: '2024-05-01', before: 'Leave. ', exact: 'You get 25 days.', after: ' Ask first. Really.' },
  diff: [
    { op: 'equal', old: 'Leave. You get ', new: 'Leave. You get ' },
    { op: 'replace', old: '20', new: '25' },
    { op: 'equal', old: ' days. Ask first.', new: ' days. Ask first.' },
    { op: 'insert', old: '', new: ' Really.' },
  ],
  ...more,
});
const plain = (state: SourceState, more: object = {}): PastSource =>
  pastSourceOf(body({ state, current: null, diff: null, ...more }));

afterEach(() => document.body.replaceChildren());

async function settled(element: { updateComplete: Promise<boolean> }): Promise<void> {
  for (let i = 0; i < 4; i++) {
    await new Promise((done) => setTimeout(done));
    await element.updateComplete;
  }
}

type Load = () => Promise<PastSource>;

async function panel(load: Load, locale: Locale = 'en', exact = 'You get 20 days.'): Promise<AssistantSource> {
  const element = new AssistantSource();
  const base = cite(1, { start: 0, end: 1 });
  const citation = { ...base, source: { ...base.source, exact } };
  Object.assign(element, { citation, turn: 't1', locale, loads: { source: load } });
  document.body.append(element);
  await settled(element);
  return element;
}

const all = (element: AssistantSource, selector: string): Element[] => [
  ...element.shadowRoot!.querySelectorAll(selector),
];
const texts = (element: AssistantSource, selector: string): string[] =>
  all(element, selector).map((one) => one.textContent!.replace(/\s+/g, ' ').trim());

describe('the source panel', () => {
  it('shows the passage as it was beside that of today, with versions, dates and the words that differ', async () => {
    const element = await panel(() => Promise.resolve(pastSourceOf(body())));
    expect(texts(element, 'figcaption')).toEqual(['As it was Version 2 1 May 2023', 'Today Version 3 1 May 2024']);
    expect(texts(element, '.state')).toEqual([sourceWords('en').sourceState.changed]);
    expect(texts(element, 'figure:first-child del')).toEqual(['[removed: 20 end]']);
    expect(texts(element, 'figure:last-child ins')).toEqual(['[added: 25 end]', '[added: Really. end]']);
    expect(all(element, 'figure:first-child ins, figure:last-child del')).toEqual([]);
    for (const heard of all(element, '.heard')) heard.remove();
    expect(all(element, 'blockquote').map((one) => one.textContent)).toEqual([
      'Leave. You get 20 days. Ask first.',
      'Leave. You get 25 days. Ask first. Really.',
    ]);
    expect(all(element, 'figure:first-child mark').map((one) => one.textContent).join('')).toBe('You get 20 days.');
  });

  it('speaks Chinese', async () => {
    const element = await panel(() => Promise.resolve(pastSourceOf(body())), 'zh');
    expect(texts(element, 'figcaption')).toEqual(['当时 第 2 版 2023年5月1日', '现在 第 3 版 2024年5月1日']);
    expect(texts(element, 'del')).toEqual(['［删去：20，删去完］']);
  });

  it.each(['unchanged', 'deleted', 'unknown'] as const)('says in words that a source is %s', async (state) => {
    for (const locale of ['en', 'zh'] as const) {
      const element = await panel(() => Promise.resolve(plain(state)), locale);
      expect(texts(element, '.state')).toEqual([sourceWords(locale).sourceState[state]]);
      expect(all(element, 'figure, del, ins')).toEqual([]);
      expect(texts(element, 'blockquote')).toEqual(['Leave. You get 20 days. Ask first.']);
    }
  });

  it('names the newer version that says the same', async () => {
    const element = await panel(() => Promise.resolve(pastSourceOf(body({ state: 'same_text' }))));
    expect(texts(element, '.state')[0]).toContain('same words. (Version 3, 1 May 2024)');
    expect(all(element, 'del, ins')).toEqual([]);
  });

  it('says so when nothing of the passage is left today', async () => {
    const current = { version: 3, date: null, before: null, exact: null, after: null };
    const element = await panel(() => Promise.resolve(pastSourceOf(body({ current, diff: null }))));
    expect(texts(element, 'figure:last-child')[0]).toContain(sourceWords('en').passageGone);
    expect(texts(element, 'blockquote')).toEqual(['Leave. You get 20 days. Ask first.']);
  });

  it('shows nothing of the text to those who may not read it now, also when that is told while it is open', async () => {
    const refused = await panel(() => Promise.reject(new ApiError(404, '/')));
    const told = await panel(() => Promise.resolve(plain('unchanged')));
    told.fate = 'not_available';
    await settled(told);
    for (const element of [refused, told]) {
      expect(texts(element, '.state')).toEqual([sourceWords('en').sourceState.not_available]);
      expect(element.shadowRoot!.textContent).not.toContain('20 days');
      expect(all(element, 'blockquote, .place')).toEqual([]);
    }
  });

  it('shows the quote of the answer when the server cannot be reached', async () => {
    const element = await panel(() => Promise.reject(new ApiError(503, '/')));
    expect(texts(element, 'blockquote')).toEqual(['You get 20 days.']);
    expect(texts(element, '.state')).toEqual([sourceWords('en').passageFailed]);
  });

  it('looks again when a change is told, and the last answer counts', async () => {
    const waiting: ((past: PastSource) => void)[] = [];
    const load = vi.fn(() => new Promise<PastSource>((give) => waiting.push(give)));
    const element = await panel(load);
    element.fate = 'updated';
    await settled(element);
    expect(load).toHaveBeenCalledTimes(2);
    waiting[1]!(pastSourceOf(body()));
    waiting[0]!(plain('unchanged'));
    await settled(element);
    expect(texts(element, '.state')).toEqual([sourceWords('en').sourceState.changed]);
  });

  it('takes markup and signs of direction as text, on both sides and in every piece', async () => {
    const exact = `${HOSTILE}20`;
    const current = { version: 3, date: HOSTILE, before: HOSTILE, exact: `${HOSTILE}25`, after: HOSTILE };
    const diff = [
      { op: 'equal', old: HOSTILE + HOSTILE, new: HOSTILE + HOSTILE },
      { op: 'replace', old: `20${HOSTILE}`, new: `25${HOSTILE}` },
    ];
    const past = pastSourceOf(body({ before: HOSTILE, exact, after: HOSTILE, current, diff }));
    const element = await panel(() => Promise.resolve(past), 'en', exact);
    expect(all(element, 'img, script')).toEqual([]);
    expect(all(element, 'del')).toHaveLength(2);
    for (const heard of all(element, '.heard')) heard.remove();
    expect(all(element, 'blockquote')[1]!.textContent).toBe(`${HOSTILE}${HOSTILE}25${HOSTILE}`);
  });

  it('draws what is near the quote of 100,000 characters, and all of them when asked', async () => {
    const parts = Array.from({ length: 2_500 }, (_, i) => `词${i % 7}🌳 ${'年假x '.repeat(9)}`);
    const old = parts.join('');
    const diff = parts.map((word, i) => ({ op: i % 2 ? 'equal' : 'delete', old: word, new: i % 2 ? word : '' }));
    const now = diff.map((step) => step.new).join('');
    const current = { version: 3, date: null, before: '', exact: now.slice(0, 9), after: now.slice(9) };
    const past = pastSourceOf(body({ before: '', exact: old.slice(0, 9), after: old.slice(9), current, diff }));
    expect(old.length).toBeGreaterThanOrEqual(100_000);
    const element = await panel(() => Promise.resolve(past), 'en', old.slice(0, 9));
    expect(all(element, 'del').length).toBeLessThan(200);
    element.shadowRoot!.querySelector<HTMLElement>('.body .text-button')!.click();
    await settled(element);
    for (const heard of all(element, '.heard')) heard.remove();
    expect(all(element, 'blockquote').map((one) => one.textContent)).toEqual([old, now]);
    expect(all(element, '.body .text-button')).toEqual([]);
  });
});

describe('an answer whose sources changed', () => {
  async function answer(states: [number, SourceState][], locale: Locale = 'en'): Promise<ShadowRoot> {
    const turn = numbered(turnEvents('t1', 'q', ['One. Two.'])).reduce(reduce, EMPTY).turns[0]!;
    const items = [cite(1, { start: 0, end: 4 }), cite(2, { start: 5, end: 9 })];
    const whole: TurnState = { ...turn, citations: { ...turn.citations!, items }, states: new Map(states) };
    const element = new AssistantTurn();
    Object.assign(element, { turn: whole, locale, loads: {} });
    document.body.append(element);
    await settled(element);
    return element.shadowRoot!;
  }
  const labels = (root: ShadowRoot): string[] =>
    [...root.querySelectorAll('button.cite')].map((one) => one.getAttribute('aria-label')!);

  it.each(['changed', 'deleted', 'not_available'] as const)('marks the number with a sign and words (%s)', async (state) => {
    for (const locale of ['en', 'zh'] as const) {
      const w = sourceWords(locale);
      const root = await answer([[1, 'unchanged'], [2, state]], locale);
      expect(root.querySelectorAll('button.cite .fate')).toHaveLength(1);
      expect(labels(root).map((label) => label.includes(w.fate[state]))).toEqual([false, true]);
      expect(root.querySelector('button.cite .fate')!.getAttribute('aria-hidden')).toBe('true');
      expect(root.querySelector('.sources')!.textContent).toContain(w.fate[state]);
      expect(root.querySelector('.note')!.textContent).toContain(w.sourceFate[state]([2]));
    }
  });

  it('is plain where nothing changed or a newer version says the same', async () => {
    const root = await answer([[1, 'unchanged'], [2, 'same_text']]);
    expect(root.querySelectorAll('.fate, .note')).toHaveLength(0);
  });

  it('has one note for all sources of a kind', async () => {
    const root = await answer([[2, 'changed'], [1, 'changed']]);
    expect([...root.querySelectorAll('.note')].map((one) => one.textContent!.trim())).toEqual([
      'Sources 1, 2 changed since this answer.',
    ]);
  });
});
