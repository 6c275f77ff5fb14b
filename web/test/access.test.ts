// @vitest-environment happy-dom
import { afterEach, describe, expect, it, vi } from 'vitest';

import { Access, tokenFrom, type GetToken } from '../src/access';
import { Api, ApiError } from '../src/api';

const BASE = 'https://desk.example/a';
const END = '2026-01-01T00:15:00Z';
const START = Date.parse('2026-01-01T00:00:00Z');

interface Asked {
  url: string;
  method: string;
  bearer: string | null;
}

/** A server that grants a1, a2… and answers these paths with these statuses. */
function server(statuses: Record<string, number> = {}, end = END): Asked[] {
  const asked: Asked[] = [];
  let granted = 0;
  vi.stubGlobal('fetch', (url: string, { method = 'GET', headers = {} }: RequestInit = {}) => {
    const bearer = new Headers(headers).get('Authorization');
    asked.push({ url, method, bearer });
    const status = statuses[new URL(url).pathname] ?? 200;
    const body = { access_token: `a${++granted}`, expires_at: end, roles: ['user'], token: `p${granted}` };
    return Promise.resolve(new Response(JSON.stringify(status === 200 ? body : { error: { code: 'not_authenticated', reason: 'replayed' } }), { status }));
  });
  return asked;
}

function portal(...tokens: string[]): GetToken {
  return () => Promise.resolve(tokens.shift() ?? null);
}

function access(getToken: GetToken | null, signsIn = false, base = BASE): { access: Access; clock: { now: number } } {
  const clock = { now: START };
  return { clock, access: new Access(base, () => getToken, () => Promise.resolve(signsIn), () => clock.now) };
}

afterEach(() => vi.unstubAllGlobals());

describe('a token', () => {
  it('of the portal is exchanged once, however many ask, and never stands in an address', async () => {
    const asked = server();
    const { access: mine } = access(portal('one-time'));
    expect(await Promise.all([mine.token(false), mine.token(false), mine.token(true)])).toEqual(['a1', 'a1', 'a1']);
    expect(await mine.token(false)).toBe('a1');
    expect(asked).toEqual([{ url: `${BASE}/api/auth/exchange`, method: 'POST', bearer: 'Bearer one-time' }]);
    expect(JSON.stringify([{ ...localStorage }, { ...sessionStorage }])).not.toContain('a1');
  });

  it('is renewed half a minute before its end with another one of the portal, and when a fresh one is asked', async () => {
    const asked = server();
    const { access: mine, clock } = access(portal('p1', 'p2', 'p3'));
    await mine.token(false);
    clock.now = Date.parse(END) - 31_000;
    expect(await mine.token(false)).toBe('a1');
    clock.now += 2_000;
    expect(await mine.token(false)).toBe('a2');
    expect(await mine.token(true)).toBe('a3');
    expect(asked.map(({ bearer }) => bearer)).toEqual(['Bearer p1', 'Bearer p2', 'Bearer p3']);
  });

  it('is used for a minute even where the clock of the page is far ahead or the end cannot be read', async () => {
    for (const end of ['2020-01-01T00:00:00Z', 'soon']) {
      server({}, end);
      const { access: mine, clock } = access(portal('p1', 'p2'));
      await mine.token(false);
      clock.now += 59_000;
      expect(await mine.token(false)).toBe('a1');
      clock.now += 2_000;
      expect(await mine.token(false)).toBe('a2');
    }
  });

  it('is refused where the portal has no user or the server does not take its word, and asked again the next time', async () => {
    server({ '/a/api/auth/exchange': 401 });
    const { access: mine } = access(portal('bad'));
    await expect(mine.token(false)).rejects.toMatchObject({ status: 401, code: 'not_authenticated', reason: 'replayed' });
    server();
    await expect(mine.token(false)).rejects.toMatchObject({ status: 401 });
    const { access: later } = access(portal('good'));
    expect(await later.token(false)).toBe('a1');
  });

  it('of the own sign-in is for the own pages alone', async () => {
    const asked = server();
    expect(await access(null, true).access.token(false)).toBeNull();
    expect(await access(null, false, location.origin).access.token(false)).toBeNull();
    expect(asked).toEqual([]);
    vi.stubGlobal('location', new URL('https://desk.example/page'));
    expect(await access(null, true).access.token(false)).toBe('a1');
    expect(asked.map(({ url }) => url)).toEqual([`${BASE}/auth/token`]);
  });

  it('comes from an address of the portal', async () => {
    const asked = server({ '/signed-out': 403 });
    expect(await tokenFrom('https://portal.example/token')()).toBe('p1');
    expect(asked[0]!.bearer).toBeNull();
    await expect(tokenFrom('https://portal.example/signed-out')()).rejects.toBeInstanceOf(ApiError);
  });
});

describe('a refused request', () => {
  it('is tried once more with a fresh token, and no more', async () => {
    const asked = server({ '/api/sessions/s': 401 });
    const tokens: boolean[] = [];
    const api = new Api('https://desk.example', (fresh) => {
      tokens.push(fresh);
      return Promise.resolve(fresh ? 'new' : 'old');
    });
    await expect(api.snapshot('s')).rejects.toMatchObject({ status: 401 });
    expect(asked.map(({ bearer }) => bearer)).toEqual(['Bearer old', 'Bearer new']);
    expect(tokens).toEqual([false, true]);
  });

  it('without any token is not', async () => {
    const asked = server({ '/api/sessions/s': 401 });
    const api = new Api('https://desk.example', () => Promise.resolve(null));
    await expect(api.rename('s', 'x')).rejects.toMatchObject({ status: 401 });
    expect(asked).toEqual([{ url: 'https://desk.example/api/sessions/s', method: 'PATCH', bearer: null }]);
  });
});

describe('a file', () => {
  it('travels under its name, whatever is in it', async () => {
    const sent: Headers[] = [];
    vi.stubGlobal('fetch', (_url: string, init: RequestInit) => {
      sent.push(new Headers(init.headers));
      return Promise.resolve(new Response('{"id":"f1","title":"t","chunks":1}'));
    });
    const api = new Api('https://desk.example', () => Promise.resolve(null));
    for (const name of ['年假 规定.pdf', 'a\r\nX-Evil: 1', 'lone \ud800.txt', '../../etc/passwd']) {
      await api.attach('s', new File(['x'], name));
      expect(decodeURIComponent(sent.at(-1)!.get('X-File-Name')!)).toBe(name.toWellFormed());
      expect(sent.at(-1)!.get('X-Evil')).toBeNull();
    }
  });
});
