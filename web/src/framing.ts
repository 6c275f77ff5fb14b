/**
 * The inside of a frame on the page of a portal (embed.html): the portal gives tokens, theme and language by messages.
 * Both sides name the exact origin of the other; what comes from elsewhere is not heard.
 *
 * Frame to portal: `{type: 'assistant.ready'}` once it listens, `{type: 'assistant.token.wanted'}` whenever it needs a
 * token. Portal to frame: `{type: 'assistant.token', token}`, `{type: 'assistant.look', theme?, locale?}`.
 */

import type { GetToken } from './access';

export const READY = 'assistant.ready';
export const WANTED = 'assistant.token.wanted';
export const TOKEN = 'assistant.token';
export const LOOK = 'assistant.look';

/** The part of a window that a frame needs of itself and of the page around it. */
export interface Around {
  parent: { postMessage(message: unknown, targetOrigin: string): void };
  /** Origins that the browser says are around, the nearest first; empty where it does not say. */
  near: readonly string[];
  listen(handle: (message: { origin: string; source: unknown; data: unknown }) => void): void;
  after(ms: number, run: () => void): void;
}

export interface Look {
  theme?: string;
  locale?: string;
}

const PATIENCE_MS = 20_000;
const KNOCK_MS = 1_000;

interface Waiting {
  give(token: string): void;
  refuse(why: Error): void;
}

/** Says that it is ready to the portals, and gives the callback that asks the one around it for a token. */
export function framed(around: Around, portals: readonly string[], look: (look: Look) => void): GetToken {
  const waiting = new Set<Waiting>();
  let portal: string | null = null;
  around.listen(({ origin, source, data }) => {
    if (source !== around.parent || !portals.includes(origin)) return;
    const met = portal === null;
    portal = origin;
    const { type, token, theme, locale } = fieldsOf(data);
    if (type === LOOK) look({ ...text('theme', theme), ...text('locale', locale) });
    if (type === TOKEN && typeof token === 'string' && token) for (const one of taken(waiting)) one.give(token);
    if (met && waiting.size) tell(WANTED);
  });
  const tell = (type: string): void => {
    for (const origin of portal ? [portal] : possible(around.near, portals)) around.parent.postMessage({ type }, origin);
  };
  tell(READY);
  return () =>
    new Promise((give, refuse) => {
      const one = { give, refuse };
      waiting.add(one);
      around.after(PATIENCE_MS, () => waiting.delete(one) && refuse(new Error('no token came from the portal')));
      tell(WANTED);
      // A portal that listens only now has not heard that this frame is ready.
      const knock = (): void => {
        if (portal !== null || !waiting.has(one)) return;
        tell(READY);
        around.after(KNOCK_MS, knock);
      };
      around.after(KNOCK_MS, knock);
    });
}

/** A browser that says who is around leaves one of the portals at most; others leave all of them. */
function possible(near: readonly string[], portals: readonly string[]): readonly string[] {
  return near.length ? portals.filter((origin) => origin === near[0]) : portals;
}

/** A token is good for one use, so one of those who wait gets it. */
function taken(waiting: Set<Waiting>): Waiting[] {
  const first = [...waiting].slice(0, 1);
  for (const one of first) waiting.delete(one);
  return first;
}

const fieldsOf = (data: unknown): Record<string, unknown> =>
  typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};

const text = (name: 'theme' | 'locale', value: unknown): Look => (typeof value === 'string' ? { [name]: value } : {});
