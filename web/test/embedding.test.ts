// @vitest-environment happy-dom
import { render } from 'lit';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { AssistantChat } from '../src/components/chat';
import { AssistantCitation } from '../src/components/citation';
import '../src/components/conversations';
import { lineNote, type Line } from '../src/components/line';
import '../src/components/quotation';
import '../src/components/source';
import '../src/components/turn';
import { words } from '../src/i18n';
import { EMPTY, reduce } from '../src/reducer';
import { sourceWords } from '../src/words/source';
import { cite } from './dom';
import { FakeSocket } from './fake';
import { frame, numbered, ready, turnEvents } from './transcript';

const SRC = 'https://desk.example';
const sockets: FakeSocket[] = [];
let asked: [url: string, bearer: string | null][] = [];

/** A server with these bodies or statuses by path; the exchange grants the portal's token with an `x` before it. */
function serve(bodies: Record<string, unknown>): void {
  sockets.length = 0;
  asked = [];
  vi.stubGlobal('WebSocket', class extends FakeSocket {
    constructor() {
      super();
      sockets.push(this);
    }
  });
  vi.stubGlobal('fetch', (url: string, init: RequestInit = {}) => {
    const bearer = new Headers(init.headers).get('Authorization');
    asked.push([url.replace(SRC, ''), bearer]);
    const { pathname } = new URL(url);
    const granted = { access_token: `x${bearer?.slice(7)}`, expires_at: '2999-01-01T00:00:00Z', roles: [] };
    const body = pathname === '/api/auth/exchange' ? granted : bodies[pathname];
    const status = typeof body === 'number' ? body : body ? 200 : 404;
    return Promise.resolve(new Response(JSON.stringify(body ?? {}), { status }));
  });
}

const CONFIG = { model: 'm', title: 'Desk', examples: [], languages: ['en'] };
const NOTHING = { '/api/config': CONFIG, '/api/sessions': { sessions: [] } };

async function chat(more: Partial<AssistantChat>): Promise<AssistantChat> {
  const element = new AssistantChat();
  Object.assign(element, { src: SRC, locale: 'en', ...more });
  document.body.append(element);
  await settled(element);
  return element;
}

async function settled(element: { updateComplete: Promise<boolean> }): Promise<void> {
  for (let i = 0; i < 6; i++) {
    await new Promise((done) => setTimeout(done));
    await element.updateComplete;
  }
}

const root = (element: HTMLElement): ShadowRoot => element.shadowRoot!;
const paths = (): string[] => asked.map(([path]) => path.split('?')[0]!);

afterEach(() => {
  document.body.replaceChildren();
  localStorage.clear();
  sessionStorage.clear();
  vi.unstubAllGlobals();
});

describe('a chat in a portal', () => {
  it('acts for the user of the portal: exchanged for REST and in the first frame, never in an address or storage', async () => {
    serve(NOTHING);
    let n = 0;
    const element = await chat({ getToken: () => Promise.resolve(`p${++n}`) });
    root(element).querySelector('assistant-composer')!.dispatchEvent(new CustomEvent('typing'));
    await vi.waitFor(() => expect(sockets).toHaveLength(1));
    const [socket] = sockets;
    socket!.onopen?.();
    expect(socket!.of('session.open')[0]!.d.token).toBe('xp1');
    const of = (path: string): (string | null)[] => asked.filter(([one]) => one.startsWith(path)).map(([, bearer]) => bearer);
    expect(of('/api/auth/exchange')).toEqual(['Bearer p1']);
    expect(of('/api/config')).toEqual(['Bearer xp1']);
    expect(of('/api/sessions')).toEqual(['Bearer xp1']);
    const everywhere = JSON.stringify([asked.map(([url]) => url), { ...localStorage }, { ...sessionStorage }]);
    expect(everywhere).not.toMatch(/p1/);
    socket!.say(ready(), frame('auth.expiring', { expires_at: 'soon' }));
    await vi.waitFor(() => expect(socket!.of('auth.refresh').map(({ d }) => d.token)).toEqual(['xp2']));
    socket!.onclose?.({ code: 4003 });
    await vi.waitFor(() => expect(sockets).toHaveLength(2), 3_000);
    sockets[1]!.onopen?.();
    expect(sockets[1]!.of('session.open')[0]!.d.token).toBe('xp3');
  });

  it('begins anew when the callback comes late', async () => {
    serve(NOTHING);
    const element = await chat({});
    expect(paths()).not.toContain('/api/auth/exchange');
    element.getToken = () => Promise.resolve('late');
    await settled(element);
    expect(asked.findLast(([path]) => path.startsWith('/api/sessions'))![1]).toBe('Bearer xlate');
  });

  it('says that nobody is signed in, and stops', async () => {
    serve(NOTHING);
    const element = await chat({ getToken: () => Promise.resolve(null) });
    expect(root(element).querySelector('.line')!.textContent).toContain(words('en').closed[4501]);
    expect(sockets).toEqual([]);
  });

  it('offers the sign-in of its own pages there alone', async () => {
    vi.stubGlobal('location', new URL(`${SRC}/page?x=1`));
    serve({ ...NOTHING, '/api/config': { ...CONFIG, sign_in: '/auth/login' }, '/auth/token': 401 });
    const element = await chat({});
    const link = root(element).querySelector<HTMLAnchorElement>('.line a')!;
    expect(link.getAttribute('href')).toBe(`${SRC}/auth/login?return=%2Fpage%3Fx%3D1`);
    vi.stubGlobal('location', new URL('https://portal.example/'));
    const elsewhere = await chat({});
    expect(root(elsewhere).querySelector('.line a')).toBeNull();
  });

  it('as a launcher asks the server nothing before it is opened, and goes on while it is closed', async () => {
    serve(NOTHING);
    const element = await chat({ display: 'launcher' });
    const knob = (): HTMLButtonElement => root(element).querySelector('.knob')!;
    expect(asked).toEqual([]);
    expect([knob().getAttribute('aria-expanded'), root(element).querySelector('.frame')]).toEqual(['false', null]);
    knob().click();
    await settled(element);
    expect(paths()).toContain('/api/config');
    expect(root(element).querySelector('.frame')).not.toBeNull();
    root(element).querySelector('.panel')!.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    await settled(element);
    expect(element.open).toBe(false);
    expect(root(element).querySelector('.frame')).not.toBeNull();
    expect(root(element).activeElement).toBe(knob());
  });

  it('opens the conversation that it is told, also later', async () => {
    const empty = (id: string): object => ({ session_id: id, epoch: 'e', as_of_seq: 0, turns: [] });
    serve({ ...NOTHING, '/api/sessions/s7': empty('s7'), '/api/sessions/s8': empty('s8') });
    const element = await chat({ session: 's7' });
    expect(paths()).toContain('/api/sessions/s7');
    element.session = 's8';
    await settled(element);
    expect(paths()).toContain('/api/sessions/s8');
  });

  it.each([['de', 'en'], ['zh-TW', 'zh'], ['constructor', 'en']])('speaks in %s what it can: %s', async (wanted, locale) => {
    serve(NOTHING);
    const element = await chat({ locale: wanted as 'en' });
    element.setAttribute('locale', wanted);
    await settled(element);
    expect(element.locale).toBe(locale);
  });
});

describe('a word about the line', () => {
  const said = (more: Partial<Line>): string => {
    const place = document.createElement('div');
    const line = { link: { kind: 'live' }, signedOut: false, signIn: null, retry: () => undefined, ...more } as Line;
    render(lineNote(line, words('en')), place);
    return place.textContent!.trim();
  };

  it('is the same from its loss until it is whole again', () => {
    expect(said({ link: { kind: 'connecting', lost: null } })).toBe('');
    for (const kind of ['waiting', 'connecting'] as const) {
      expect(said({ link: { kind, lost: 1006, ms: 1 } })).toBe(words('en').lost);
      expect(said({ link: { kind, lost: 4002, ms: 1 } })).toBe(words('en').restarting);
      expect(said({ link: { kind, lost: 4004, ms: 1 } })).toBe(words('en').tooFast);
    }
    vi.stubGlobal('navigator', { onLine: false });
    expect(said({ link: { kind: 'waiting', lost: 1006, ms: 1 } })).toBe(words('en').offline);
  });
});

describe('a citation on any page', () => {
  const frames = numbered(turnEvents('t1', 'q', ['One week.'])).map((f) =>
    f.type === 'citations' ? { ...f, d: { ...f.d, items: [cite(1, { start: 0, end: 9 })] } } : f,
  );
  const { turn, ...message } = frames.reduce(reduce, EMPTY).turns[0]!;
  const past = { version: 1, date: null, before: 'Then ', exact: 'x', after: '.', state: 'unchanged', current: null, diff: null };
  const stored = {
    '/api/sessions/s1': { session_id: 's1', epoch: 'e', as_of_seq: 9, turns: [{ turn, message }] },
    '/api/sessions/s1/turns/t1/citations/1/source': past,
  };

  async function show(more: Partial<AssistantCitation>): Promise<string> {
    const element = new AssistantCitation();
    Object.assign(element, { src: SRC, session: 's1', turn: 't1', n: 1, locale: 'en', ...more });
    document.body.append(element);
    for (let i = 0; i < 3; i++) await settled(element);
    const inner = root(root(element).querySelector<HTMLElement>('assistant-quotation')!);
    const source = inner.querySelector<HTMLElement>('assistant-source');
    return (source ? root(source) : inner).textContent!.replace(/\s+/g, ' ');
  }

  it('shows the sentence, the passage and what became of it, without a way to close it', async () => {
    serve(stored);
    const text = await show({ getToken: () => Promise.resolve('p') });
    for (const part of ['One week.', 'Then x.', sourceWords('en').sourceState.unchanged]) expect(text).toContain(part);
    expect(text).not.toContain('Close');
    expect(asked.filter(([path]) => path.startsWith('/api/sessions')).every(([, bearer]) => bearer === 'Bearer xp')).toBe(true);
    expect(document.activeElement).toBe(document.body);
  });

  it('says when it is not there for this person', async () => {
    serve(stored);
    expect(await show({ n: 9 })).toContain(sourceWords('en').sourceState.not_available);
    expect(await show({ session: 's2' })).toContain(sourceWords('en').sourceState.not_available);
    expect(await show({ turn: '' })).toContain(sourceWords('en').sourceState.not_available);
    expect(await show({ getToken: () => Promise.resolve(null) })).toContain(words('en').closed[4501]);
    expect(await show({ getToken: () => Promise.reject(new Error('no network')) })).toContain('Try again');
  });
});
