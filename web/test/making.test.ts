// @vitest-environment happy-dom
import { afterEach, describe, expect, it, vi } from 'vitest';

import { Api, ApiError } from '../src/api';
import { callsOf } from '../src/calls';
import { AssistantMaking } from '../src/components/making';
import { AssistantPlan } from '../src/components/plan';
import { AssistantTurn } from '../src/components/turn';
import type { Loads } from '../src/loads';
import type { ConflictShown, TurnPlanned } from '../src/protocol';
import { EMPTY, reduce, type TurnState } from '../src/reducer';
import type { Step } from '../src/steps';
import { numbered, turnEvents } from './transcript';

const HOSTILE = [
  '<img src=x onerror=alert(1)><script>alert(1)</script>',
  '</pre></details><iframe src="javascript:alert(1)">',
  '\u202eevil\u202c مرحبا בעולם',
  '👩‍🚀'.repeat(50),
  '年假为25天。'.repeat(20),
  'x'.repeat(100_000),
];

const PLAN: TurnPlanned = {
  standalone: 'q',
  mode: 'compact',
  reason: 'Because.',
  reason_code: 'needs_all',
  budget: { window: 100, system: 1, history: 1, evidence: 1, question: 1, output: 1, margin: 1, dropped: [] },
  evidence: [],
  language: 'en',
  searched: [],
  structured: false,
};

const CALL = {
  purpose: 'refine',
  model: 'm-1',
  messages: [
    { role: 'system', text: 'Answer from the evidence.', images: [] },
    { role: 'user', text: HOSTILE[0], images: [{ id: 'i1' }, { id: 'i2' }] },
  ],
  text: 'The reply.',
  ended: 'stop',
  usage: { calls: 1, tokens_in: 1234, tokens_out: 56, tokens_cached: 7, cost: 0.0012 },
  ms: 2300,
};

const state = (more: Partial<TurnState> = {}): TurnState => {
  const turn = numbered(turnEvents('t1', 'q', ['An answer.'])).reduce(reduce, EMPTY).turns[0]!;
  return { ...turn, plan: PLAN, ...more };
};

const step = (more: Partial<Step> = {}): Step => ({ stage: 'read', done: 1, total: 8, text: null, failed: null, ...more });

const never = (): Promise<never> => new Promise(() => undefined);
const loads = (more: Partial<Loads> = {}): Loads => ({ source: never, image: never, calls: never, ...more });

afterEach(() => {
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

async function shown(turn: TurnState, from: Partial<Loads> = {}, locale: 'en' | 'zh' = 'en'): Promise<AssistantMaking> {
  const made = new AssistantMaking();
  Object.assign(made, { turn, locale, loads: loads(from) });
  document.body.append(made);
  await settled(made);
  return made;
}

async function settled(element: { updateComplete: Promise<boolean> }): Promise<void> {
  for (let i = 0; i < 4; i++) {
    await new Promise((done) => setTimeout(done));
    await element.updateComplete;
  }
}

const words = (root: ParentNode): string => ((root as Element | ShadowRoot).textContent ?? '').replace(/\s+/g, ' ').trim();

function open(details: HTMLDetailsElement): void {
  details.open = true;
  details.dispatchEvent(new Event('toggle'));
}

describe('the steps of an answer', () => {
  it('are listed while it is made, with their counts, failures in words, no calls yet', async () => {
    const calls = vi.fn(never);
    const failing = step({ done: 2, failed: 'context_overflow' });
    const made = await shown(state({ status: 'running', steps: [step({ text: 'draft' }), failing] }), { calls });
    const text = words(made.shadowRoot!);
    expect(text).toContain('Reading 1 of 8');
    expect(text).toContain('Reading 2 of 8 failed, left out Question and documents are too long for the model.');
    expect(text).toContain('when the answer is finished');
    expect(calls).not.toHaveBeenCalled();
    const steps = (made.turn = state({ status: 'running', steps: [...made.turn.steps, step({ done: 3 })] })).steps;
    await settled(made);
    expect(made.shadowRoot!.querySelectorAll('li')).toHaveLength(steps.length);
  });

  it('stay folded out when more come', async () => {
    const made = await shown(state({ status: 'running', steps: [step({ text: 'first' })] }));
    const first = made.shadowRoot!.querySelector('details')!;
    open(first);
    await settled(made);
    made.turn = state({ status: 'running', steps: [step({ text: 'first' }), step({ done: 2, text: 'second' })] });
    await settled(made);
    expect(made.shadowRoot!.querySelector('details')).toBe(first);
    expect(first.open).toBe(true);
    expect([...made.shadowRoot!.querySelectorAll('pre')].map((pre) => pre.textContent)).toEqual(['first']);
  });

  it.each(HOSTILE)('show what was written as text and nothing else (%#)', async (text) => {
    const made = await shown(state({ steps: [step({ text, stage: text.slice(0, 60), failed: text.slice(0, 60) })] }));
    const details = made.shadowRoot!.querySelector('details')!;
    expect(details.querySelector('pre')).toBeNull();
    open(details);
    await settled(made);
    expect(details.querySelector('pre')!.textContent).toBe(text);
    expect(details.querySelector('pre')!.getAttribute('dir')).toBe('auto');
    expect(made.shadowRoot!.querySelector('img, script, iframe')).toBeNull();
  });

  it('of a checked draft have their names', async () => {
    const plan = { ...PLAN, mode: 'verified' };
    const steps = [1, 2, 3].map((done) => step({ done, total: 3, text: 'a' }));
    const made = await shown(state({ plan, steps }));
    const names = [...made.shadowRoot!.querySelectorAll('summary')].map((one) => words(one));
    expect(names).toEqual(['Draft', 'Corrected draft', 'Withheld, as the evidence does not carry it']);
    const clean = await shown(state({ plan, steps: [step({ done: 3, total: 3 })] }), {}, 'zh');
    expect(words(clean.shadowRoot!)).toContain('再次核对');
  });
});

describe('the model calls of an answer', () => {
  it('are loaded when it is finished and folded out one by one', async () => {
    const calls = vi.fn(() => Promise.resolve(callsOf({ calls: [CALL, { ...CALL, ended: 'model_unavailable' }] })));
    const made = await shown(state(), { calls });
    const root = made.shadowRoot!;
    expect(calls.mock.calls).toEqual([['t1']]);
    const [first, second] = root.querySelectorAll('summary');
    const facts = [...first!.querySelectorAll('.facts span')].map((fact) => fact.textContent);
    expect(words(first!)).toMatch(/^Improve the draft/);
    expect(facts).toEqual(['m-1', '1,234 tokens in, 56 out', '7 from cache', '$0.0012', '2.3 s']);
    expect(words(second!)).toContain('The language model cannot be reached');
    expect(root.querySelector('pre')).toBeNull();
    open(root.querySelector('details')!);
    await settled(made);
    expect([...root.querySelectorAll('pre')].map((pre) => pre.textContent)).toEqual([
      'Answer from the evidence.',
      HOSTILE[0],
      'The reply.',
    ]);
    expect(words(root)).toContain('Question and evidence 2 images');
    expect(root.querySelector('img, script')).toBeNull();
    made.turn = { ...made.turn };
    await settled(made);
    expect(calls).toHaveBeenCalledTimes(1);
  });

  it('are loaded once the running answer ends', async () => {
    const calls = vi.fn(() => Promise.resolve([]));
    const made = await shown(state({ status: 'running' }), { calls });
    made.turn = state();
    await settled(made);
    expect(calls).toHaveBeenCalledTimes(1);
    expect(words(made.shadowRoot!)).toContain('No model was called.');
  });

  it('can be asked for again when they do not come', async () => {
    const calls = vi.fn().mockRejectedValueOnce(new ApiError(503, '/')).mockResolvedValueOnce(callsOf({ calls: [CALL] }));
    const made = await shown(state(), { calls });
    expect(words(made.shadowRoot!.querySelector('[role=status]')!)).toContain('could not be loaded');
    made.shadowRoot!.querySelector('button')!.click();
    await settled(made);
    expect(words(made.shadowRoot!)).toContain('Improve the draft');
  });

  it('are read from any form and lose nothing that has one', () => {
    for (const body of [null, 7, '', [], {}, { calls: null }, { calls: {} }]) expect(callsOf(body)).toEqual([]);
    const [odd] = callsOf({ calls: [{ purpose: 1, messages: [null, { role: 'user', text: 't' }], usage: null, ms: 'x' }] });
    expect(odd).toMatchObject({ purpose: '', tokensIn: 0, cost: null, ms: 0, ended: '' });
    expect(odd!.messages).toEqual([
      { role: '', text: '', images: 0 },
      { role: 'user', text: 't', images: 0 },
    ]);
  });

  it('show names they do not know as they are', async () => {
    const calls = callsOf({ calls: [{ ...CALL, purpose: 'constructor', messages: [{ role: 'toString', text: 't' }] }] });
    const made = await shown(state(), { calls: () => Promise.resolve(calls) });
    open(made.shadowRoot!.querySelector('details')!);
    await settled(made);
    expect(words(made.shadowRoot!)).toMatch(/constructor.*toString/);
  });
});

describe('the doors of the server', () => {
  it('get their paths quoted and the token sent', async () => {
    const asked = vi.fn((_url: string, _init: RequestInit) => Promise.resolve(new Response('{"calls": []}')));
    vi.stubGlobal('fetch', asked);
    const api = new Api('https://desk.example/x', () => Promise.resolve('tok'));
    await api.calls('s/1', 't 1');
    await api.image('s/1', 't1', '../../secret');
    expect(asked.mock.calls.map(([url]) => url)).toEqual([
      'https://desk.example/x/api/sessions/s%2F1/turns/t%201/calls',
      'https://desk.example/x/api/sessions/s%2F1/turns/t1/images/..%2F..%2Fsecret',
    ]);
    for (const [, init] of asked.mock.calls) expect(init.headers).toMatchObject({ Authorization: 'Bearer tok' });
  });
});

describe('the turn', () => {
  async function turnOf(turn: TurnState, from: Partial<Loads> = {}): Promise<AssistantTurn> {
    const element = new AssistantTurn();
    Object.assign(element, { turn, locale: 'en', loads: loads(from) });
    document.body.append(element);
    await settled(element);
    return element;
  }

  it('says the stage to those who listen, outside of the busy answer, and is silent in the end', async () => {
    const progress = { stage: 'read', done: 10, total: 40, text: null, failed: null };
    const element = await turnOf(state({ status: 'running', text: '', stage: 'read', progress, steps: [step()] }));
    const live = element.shadowRoot!.querySelector('[aria-live=polite]')!;
    expect(live.closest('[aria-busy]')).toBeNull();
    expect(words(live)).toBe('Reading 10 of 40.');
    element.turn = { ...element.turn, progress: { ...progress, done: 11 } };
    await settled(element);
    expect(words(live)).toBe('Reading 10 of 40.');
    expect(words(element.shadowRoot!.querySelector('.stage')!)).toBe('Reading 11 of 40');
    element.turn = { ...element.turn, steps: [step({ failed: 'model_unavailable' })] };
    await settled(element);
    expect(words(live)).toContain('A step failed');
    element.turn = state();
    await settled(element);
    expect(words(live)).toBe('');
  });

  it('offers how it was made as soon as there are steps, and keeps it open to the end', async () => {
    const element = await turnOf(state({ status: 'running', text: '', plan: PLAN }));
    const root = element.shadowRoot!;
    expect(root.querySelector('.made')).toBeNull();
    element.turn = state({ status: 'running', text: '', plan: PLAN, steps: [step({ text: 'draft' })] });
    await settled(element);
    const made = root.querySelector<HTMLDetailsElement>('details.made')!;
    expect(made.querySelector('assistant-making')).toBeNull();
    open(made);
    await settled(element);
    element.turn = state({ steps: [step({ text: 'draft' })] });
    await settled(element);
    expect(root.querySelector('details.made')).toBe(made);
    expect(made.open).toBe(true);
    expect(made.querySelector('assistant-making')).not.toBeNull();
  });
});

describe('a conflict', () => {
  it.each([
    ['statement', true],
    ['number', false],
  ] as const)('of kind %s says whether a model found it', async (kind, found) => {
    const item: ConflictShown = { topic: 'Leave', kind, sides: [], resolution: 'unresolved', note: '', followed: 'silent' };
    const element = new AssistantTurn();
    Object.assign(element, { turn: state({ conflicts: { items: [item] } }), locale: 'en', loads: loads() });
    document.body.append(element);
    await settled(element);
    expect(words(element.shadowRoot!.querySelector('.conflict')!).includes('Found by a language model')).toBe(found);
  });
});

describe('the plan', () => {
  it('knows reasons and modes by name, shows others as they are, and names the notes of older turns', async () => {
    const dropped = [{ kind: 'history', ref: 'notes', tokens: 5, reason: 'in_groups' }];
    const draw = async (more: Partial<TurnPlanned>): Promise<string> => {
      const plan = new AssistantPlan();
      Object.assign(plan, { turn: state({ plan: { ...PLAN, ...more } }), locale: 'en' });
      document.body.append(plan);
      await settled(plan);
      return words(plan.shadowRoot!);
    };
    const known = await draw({ mode: 'tree_summarize', reason_code: 'summary_of_all', budget: { ...PLAN.budget, dropped } });
    for (const part of ['Tree of summaries', 'summarized side by side', 'notes of older turns', 'read in several steps'])
      expect(known).toContain(part);
    const custom = await draw({ mode: 'constructor', reason_code: '__proto__', reason: 'A rule of <b>ours</b>.' });
    expect(custom).toContain('Method constructor');
    expect(custom).toContain('A rule of <b>ours</b>.');
  });
});
