// @vitest-environment happy-dom
import { afterEach, describe, expect, it, vi } from 'vitest';

import { AssistantChat } from '../src/components/chat';
import { Finished } from '../src/components/finished';
import { partsOf } from '../src/components/plan';
import '../src/components/conversations';
import '../src/components/turn';
import { Memory } from '../src/memory';
import { EMPTY, reduce, type TurnState } from '../src/reducer';
import { cite } from './dom';
import { FakeSocket } from './fake';
import { frame, numbered, ready, turnEvents } from './transcript';

describe('the budget', () => {
  it('adds up to the window with what is free, and never shows less than nothing', () => {
    const budget = {
      window: 100,
      system: 10,
      history: 0,
      evidence: 40,
      question: 5,
      output: 20,
      margin: 5,
      dropped: [],
    };
    const parts = partsOf(budget);
    expect(parts.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(100);
    expect(parts.map(({ part }) => part)).toEqual(['system', 'evidence', 'question', 'output', 'margin', 'free']);
    expect(partsOf({ ...budget, window: 10 }).map(({ part }) => part)).not.toContain('free');
  });
});

describe('finished answers', () => {
  const turn = (id: string, status: string): TurnState => ({ turn: id, status }) as TurnState;
  const ids = (turns: TurnState[]): string[] => turns.map(({ turn: id }) => id);

  it('are news once, also when they came in one piece, and not when they were there before', () => {
    const finished = new Finished();
    expect(finished.take([turn('old', 'completed'), turn('open', 'running')], false)).toEqual([]);
    expect(
      ids(finished.take([turn('old', 'completed'), turn('open', 'completed'), turn('fast', 'failed')], true)),
    ).toEqual(['open', 'fast']);
    expect(finished.take([turn('open', 'completed'), turn('fast', 'failed')], true)).toEqual([]);
  });
});

describe('memory', () => {
  it('gives the conversation back to the tab, and to a new tab', () => {
    const memory = new Memory('https://a');
    memory.rememberSession('s1');
    sessionStorage.clear();
    expect(new Memory('https://a').session()).toBe('s1');
    expect(new Memory('https://b').session()).toBeNull();
    memory.rememberSession(null);
    expect(memory.session()).toBeNull();
  });

  it('takes nothing but questions out of storage', () => {
    const memory = new Memory('');
    for (const bad of ['{', '1', '[1, null, {"id": 1}]']) {
      sessionStorage.setItem('assistant::pending:s1', bad);
      expect(memory.pending('s1')).toEqual([]);
    }
  });

  it('does without storage', () => {
    const denied = vi.spyOn(window, 'localStorage', 'get').mockImplementation(() => {
      throw new Error('denied');
    });
    const memory = new Memory('x');
    expect(() => memory.rememberLocale('zh')).not.toThrow();
    expect(memory.locale()).toBeNull();
    denied.mockRestore();
  });
});

describe('the chat', () => {
  let socket: FakeSocket | undefined;

  /** A chat on the page whose server is this test. */
  async function open(more: Record<string, unknown> = {}): Promise<AssistantChat> {
    vi.stubGlobal(
      'WebSocket',
      class extends FakeSocket {
        constructor() {
          super();
          socket = this;
        }
      },
    );
    const bodies: Record<string, unknown> = {
      ...more,
      '/api/sessions/s1/turns/t1/calls': { calls: [{ purpose: 'summary', text: 'Both agree.', ended: 'stop' }] },
      '/api/config': { model: 'extractive', title: 'Desk', examples: ['Example?'], collections: [], languages: ['en'] },
      '/api/sessions': {
        sessions: [
          { session_id: 's0', title: 'Old one', created_at: '2020-01-01', updated_at: '2020-01-01', turns: 1 },
        ],
      },
    };
    vi.stubGlobal('fetch', (url: string) => {
      const body = bodies[new URL(url).pathname];
      return Promise.resolve(new Response(JSON.stringify(body ?? {}), { status: body ? 200 : 404 }));
    });
    const chat = new AssistantChat();
    chat.src = 'https://desk.example';
    chat.locale = 'en';
    document.body.append(chat);
    await drawn(chat);
    chat.shadowRoot!.querySelector('assistant-composer')!.dispatchEvent(new CustomEvent('typing'));
    await vi.waitFor(() => expect(socket).toBeDefined());
    socket!.onopen?.();
    socket!.say(ready(), frame('replay.done', { head_seq: 0 }));
    await drawn(chat);
    return chat;
  }

  const drawn = async (chat: AssistantChat): Promise<void> => {
    for (let i = 0; i < 5; i++) {
      await new Promise((done) => setTimeout(done));
      await chat.updateComplete;
    }
  };
  const root = (chat: AssistantChat): ShadowRoot => chat.shadowRoot!;

  afterEach(() => {
    document.body.replaceChildren();
    socket = undefined;
    localStorage.clear();
    sessionStorage.clear();
    vi.unstubAllGlobals();
  });

  it('greets with the title, the examples, past conversations and an honest word about the model', async () => {
    const chat = await open();
    const list = root(chat).querySelector('assistant-conversations')!.shadowRoot!;
    const text = root(chat).textContent! + list.textContent!;
    for (const part of ['Desk', 'Example?', 'Old one', 'No language model is connected']) expect(text).toContain(part);
  });

  it('asks an example, shows the answer as it grows, and says it once when it is complete', async () => {
    const chat = await open();
    root(chat).querySelector<HTMLButtonElement>('.welcome button')!.click();
    await drawn(chat);
    const start = socket!.of('turn.start')[0]!;
    expect(start.d.text).toBe('Example?');
    expect(root(chat).querySelector('.pending')!.textContent).toContain('Example?');
    const frames = numbered(turnEvents('t1', 'Example?', ['**Yes**', ', it is.']));
    const accepted = { ...frames[0]!, d: { ...frames[0]!.d, client_id: start.id } } as (typeof frames)[0];
    socket!.say(accepted, ...frames.slice(1, 4));
    await drawn(chat);
    const live = root(chat).querySelector('[aria-live]')!;
    const turn = root(chat).querySelector('assistant-turn')!.shadowRoot!;
    expect(turn.querySelector('strong')!.textContent).toBe('Yes');
    expect(turn.querySelector('.answer')!.getAttribute('aria-busy')).toBe('true');
    expect(live.textContent).toBe('');
    socket!.say(...frames.slice(4));
    await drawn(chat);
    expect(root(chat).querySelector('.pending')).toBeNull();
    expect(turn.querySelector('.answer')!.getAttribute('aria-busy')).toBe('false');
    expect(live.textContent).toContain('Yes, it is.');
    expect(localStorage.getItem('assistant:https://desk.example:session')).toBe('s1');
  });

  it('asks for the model calls of a turn when somebody opens how it was made, not before', async () => {
    const chat = await open();
    const asked = vi.spyOn(globalThis, 'fetch');
    const step = { stage: 'read', done: 1, total: 2, text: 'Part one.', failed: null };
    socket!.say(...numbered(turnEvents('t1', 'q', ['a'], 'completed', [step])));
    await drawn(chat);
    const paths = (): string[] => asked.mock.calls.map(([url]) => new URL(url as string).pathname);
    expect(paths()).not.toContain('/api/sessions/s1/turns/t1/calls');
    const details = root(chat).querySelector('assistant-turn')!.shadowRoot!.querySelector<HTMLDetailsElement>('.made')!;
    details.open = true;
    details.dispatchEvent(new Event('toggle'));
    await vi.waitFor(() => expect(paths()).toContain('/api/sessions/s1/turns/t1/calls'));
    await drawn(chat);
    expect(details.querySelector('assistant-making')!.shadowRoot!.textContent).toContain('Combine partial answers');
  });

  const answered = numbered(turnEvents('t1', 'How <b>long</b>?', ['One.'])).map((f) =>
    f.type === 'citations' ? { ...f, d: { ...f.d, items: [cite(1, { start: 0, end: 4 })] } } : f,
  );
  const live = (chat: AssistantChat): string => root(chat).querySelector('[aria-live]')!.textContent!;
  const chip = (chat: AssistantChat): Element =>
    root(chat).querySelector('assistant-turn')!.shadowRoot!.querySelector('button.cite')!;

  it('asks once what became of the sources of a conversation that is opened, and marks them without a word', async () => {
    const { turn, ...message } = answered.reduce(reduce, EMPTY).turns[0]!;
    new Memory('https://desk.example').rememberSession('s1');
    const chat = await open({
      '/api/sessions/s1': { session_id: 's1', epoch: 'e1', as_of_seq: answered.length, turns: [{ turn, message }] },
      '/api/sessions/s1/sources': { sources: [{ turn: 't1', n: 1, state: 'deleted' }] },
    });
    await vi.waitFor(() => expect(chip(chat).getAttribute('aria-label')).toContain('deleted since this answer'));
    expect(chip(chat).querySelector('.fate.deleted')).not.toBeNull();
    expect(live(chat)).toBe('');
  });

  it('says a change politely when it is told, marks the source, and asks what the change is', async () => {
    const states = { sources: [{ turn: 't1', n: 1, state: 'changed' }] };
    const chat = await open({ '/api/sessions/s1/sources': states });
    const asked = vi.spyOn(globalThis, 'fetch');
    socket!.say(...answered);
    await drawn(chat);
    const of = (): number => asked.mock.calls.filter(([url]) => (url as string).endsWith('/sources')).length;
    expect(of()).toBe(0);
    const seq = answered.length + 1;
    socket!.say(frame('source.changed', { turn: 't1', n: 1, change: 'updated' }, { seq, turn: 't1' }));
    await drawn(chat);
    expect(root(chat).querySelector('[aria-live]')!.getAttribute('aria-live')).toBe('polite');
    await vi.waitFor(() => expect(live(chat)).toBe('Answer to “How <b>long</b>?”: Source 1 changed since this answer.'));
    await vi.waitFor(() => expect(chip(chat).getAttribute('aria-label')).toContain('changed since this answer'));
    expect(of()).toBe(1);
  });

  it('stops the running turn by its id', async () => {
    const chat = await open();
    socket!.say(...numbered(turnEvents('t1', 'q', ['a', 'b'])).slice(0, 4));
    await drawn(chat);
    const composer = root(chat).querySelector('assistant-composer')!;
    composer.shadowRoot!.querySelector<HTMLButtonElement>('.stop')!.click();
    expect(socket!.of('turn.cancel')[0]!.d).toEqual({ turn: 't1' });
  });

  it('says so when a question is refused, and asks it again under a new id', async () => {
    const chat = await open();
    root(chat).querySelector<HTMLButtonElement>('.welcome button')!.click();
    const first = socket!.of('turn.start')[0]!;
    socket!.say(frame('error', { code: 'busy', message_key: 'busy', retryable: true, ref_id: first.id }));
    await drawn(chat);
    const alert = root(chat).querySelector('[role=alert]')!;
    expect(alert.textContent).toContain('Too many questions');
    alert.querySelector('button')!.click();
    expect(socket!.of('turn.start')[1]).toMatchObject({ d: { text: 'Example?' } });
    expect(socket!.of('turn.start')[1]!.id).not.toBe(first.id);
  });

  it('does not send while an input method is composing', async () => {
    const chat = await open();
    const composer = root(chat).querySelector('assistant-composer')!.shadowRoot!;
    const field = composer.querySelector('textarea')!;
    field.value = '你好';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true }));
    expect(socket!.of('turn.start')).toEqual([]);
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    expect(socket!.of('turn.start')[0]!.d.text).toBe('你好');
  });

  it('changes its language with one press and remembers it', async () => {
    const chat = await open();
    root(chat).querySelector<HTMLButtonElement>('.language')!.click();
    await drawn(chat);
    expect(root(chat).textContent).toContain('想了解什么');
    expect(chat.lang).toBe('zh-CN');
    expect(localStorage.getItem('assistant:https://desk.example:locale')).toBe('zh');
  });
});
