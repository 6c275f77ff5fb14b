// @vitest-environment happy-dom
import { afterEach, describe, expect, it, vi } from 'vitest';

import { AssistantTurn } from '../src/components/turn';
import type { DurableFrame } from '../src/protocol';
import { EMPTY, reduce, restore, type TurnState } from '../src/reducer';
import { answerWords } from '../src/words/answer';
import { cite } from './dom';
import { frame, numbered, SID, turnEvents } from './transcript';

const HOSTILE = '<img src=x onerror=alert(1)>';
const FRAMES = numbered(turnEvents('t1', 'How long?', ['One ', 'week.']));

const withheldAt = (seq: number): DurableFrame => frame('turn.withheld', {}, { seq, turn: 't1' }) as DurableFrame;
const stateOf = (frames: readonly DurableFrame[]): ReturnType<typeof reduce> => frames.reduce(reduce, EMPTY);
const turnOf = (frames: readonly DurableFrame[]): TurnState => stateOf(frames).turns[0]!;

async function show(turn: Partial<TurnState>, locale: 'en' | 'zh' = 'en'): Promise<AssistantTurn> {
  const element = new AssistantTurn();
  Object.assign(element, { turn: { ...turnOf(FRAMES), ...turn }, locale, loads: {} });
  document.body.append(element);
  await element.updateComplete;
  return element;
}

const text = (element: AssistantTurn): string => element.shadowRoot!.textContent!.replace(/\s+/g, ' ');
const find = <E extends HTMLElement = HTMLElement>(element: AssistantTurn, selector: string): E | null =>
  element.shadowRoot!.querySelector<E>(selector);

afterEach(() => {
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

describe('a turn that rests on documents which may no longer be read', () => {
  const accepted = FRAMES[0]!;
  const told = ['turn.usage', 'turn.done'];
  const replayed = [accepted, ...FRAMES.slice(1).map((f) => (told.includes(f.type) ? f : withheldAt(f.seq)))];

  it('keeps its question and counts its numbers', () => {
    const state = stateOf(replayed);
    expect(state).toMatchObject({ seq: FRAMES.length, need: null });
    expect(state.turns[0]).toMatchObject({ question: 'How long?', text: '', withheld: true, citations: null, status: 'completed' });
  });

  it('loses what was shown of it, also in the middle of the answer, and what still comes is not shown', () => {
    for (let cut = 1; cut < FRAMES.length - 2; cut++) {
      const frames = [...FRAMES.slice(0, cut), withheldAt(cut + 1), ...FRAMES.slice(cut + 1)];
      const state = stateOf(frames);
      expect(state).toMatchObject({ seq: FRAMES.length, need: null });
      expect(state.turns).toEqual(stateOf(replayed).turns);
    }
  });

  it('is the same as a snapshot tells it', () => {
    const { turn, ...live } = turnOf(replayed);
    const snapshot = { session_id: SID, epoch: 'e1', as_of_seq: 9, turns: [{ turn, message: { ...live, steps: [] } }] };
    const read = restore(EMPTY, JSON.parse(JSON.stringify(snapshot)) as typeof snapshot).turns[0];
    expect(read).toEqual(turnOf(replayed));
  });

  it('says so, and offers neither copying nor rating', async () => {
    for (const locale of ['en', 'zh'] as const) {
      const element = await show(turnOf(replayed), locale);
      expect(text(element)).toContain('How long?');
      expect(text(element)).toContain(answerWords(locale).withheld);
      expect(find(element, '.footer button')).toBeNull();
    }
  });
});

describe('an answer from the cache', () => {
  const cached = FRAMES.map((f) => (f.type === 'answer.start' ? { ...f, d: { ...f.d, from_cache: 't0' } } : f));

  it('says that it was given before', async () => {
    expect(turnOf(cached).from_cache).toBe('t0');
    expect(find(await show(turnOf(cached)), '.cached')!.textContent).toContain('from cache');
    expect(find(await show({}), '.cached')).toBeNull();
  });
});

describe('a question with files', () => {
  it('shows their titles as text', async () => {
    const first = FRAMES[0]!;
    const accepted = { ...first, d: { ...first.d, attachments: ['Plan.pdf', HOSTILE] } } as DurableFrame;
    const element = await show(turnOf([accepted, ...FRAMES.slice(1)]));
    expect([...element.shadowRoot!.querySelectorAll('.attached li')].map((li) => li.textContent)).toEqual(['Plan.pdf', HOSTILE]);
    expect(find(element, 'img')).toBeNull();
  });
});

describe('an answer', () => {
  const cited = { citations: { status: 'complete' as const, items: [cite(1, { start: 0, end: 9 })], unsupported: [], agreement: null } };

  it('is copied alone or with its sources', async () => {
    const written: string[] = [];
    vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText: (some: string) => Promise.resolve(void written.push(some)) } });
    const element = await show(cited);
    for (const name of ['Copy answer', 'Copy answer with its sources']) {
      find<HTMLButtonElement>(element, `[aria-label="${name}"]`)!.click();
      await vi.waitFor(() => expect(find(element, `[title="${name}"]`)!.getAttribute('aria-label')).toBe('Copied'));
    }
    expect(written).toEqual(['One week.', 'One week.[1]\n\nSources\n[1] T, version 1, No date, u\n']);
  });

  it('that is wrong is told with a reason and what it should have said', async () => {
    const element = await show({});
    const rated: { d: object; noted(): void }[] = [];
    element.addEventListener('rate', (event) => rated.push((event as CustomEvent<(typeof rated)[0]>).detail));
    find<HTMLButtonElement>(element, '[aria-label="Something is wrong"]')!.click();
    await element.updateComplete;
    find<HTMLInputElement>(element, 'input[value=outdated]')!.checked = true;
    find<HTMLTextAreaElement>(element, 'textarea')!.value = ' Two weeks. ';
    find(element, 'form')!.dispatchEvent(new Event('submit', { cancelable: true }));
    await element.updateComplete;
    const d = { turn: 't1', rating: 'down' };
    expect(rated.map((one) => one.d)).toEqual([d, { ...d, reason: 'outdated', correction: 'Two weeks.' }]);
    expect(find(element, '.thanks')).toBeNull();
    rated[1]!.noted();
    await element.updateComplete;
    expect(find(element, '.thanks')!.textContent).toBe('Thank you, noted.');
  });

  it('that failed is asked again in the mode that was chosen', async () => {
    const plan = { mode: 'refine', reason_code: 'requested' } as TurnState['plan'];
    for (const [chosen, mode] of [[plan, 'refine'], [{ ...plan!, reason_code: 'fits' }, 'auto'], [null, 'auto']] as const) {
      const element = await show({ status: 'failed', error: 'model_unavailable', plan: null, text: '' });
      element.turn = { ...element.turn, plan: chosen };
      await element.updateComplete;
      const asked: unknown[] = [];
      element.addEventListener('ask-again', (event) => asked.push((event as CustomEvent).detail));
      find<HTMLButtonElement>(element, '.note.bad button')!.click();
      expect(asked).toEqual([{ text: 'How long?', mode }]);
    }
  });
});
