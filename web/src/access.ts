/**
 * Who the page acts for. A portal vouches for its user with a short-lived token, which the server exchanges for its own;
 * on the server's own pages its sign-in gives one; where there is neither, there is none. Tokens live in this object
 * alone: never in an address, never in storage.
 */

import { ApiError, checked, type TokenSource } from './api';

/** Asks the portal for a token that was not used before; nothing where its user is signed out. */
export type GetToken = () => Promise<string | null | undefined>;

interface Held {
  token: string;
  /** Till when it is used, by the clock of this page. */
  until: number;
}

interface Granted {
  access_token: string;
  expires_at: string;
}

/** A token is renewed so long before its end. */
const AHEAD_MS = 30_000;
/** It is used at least so long, for clocks of pages can be wrong. */
const LEAST_MS = 60_000;

export class Access {
  private held: Held | null = null;
  private asking: Promise<Held | null> | null = null;

  /**
   * `portal` gives the callback of the portal, null where there is none; `signsIn` whether people sign in to the server
   * itself. Both are asked anew each time.
   */
  constructor(
    private readonly base: string,
    private readonly portal: () => GetToken | null,
    private readonly signsIn: () => Promise<boolean>,
    private readonly now: () => number = Date.now,
  ) {}

  /** The token; one request serves all who ask meanwhile. Throws ApiError where the server or the portal refuses. */
  readonly token: TokenSource = async (fresh) => {
    if (!fresh && this.held && this.now() < this.held.until) return this.held.token;
    this.asking ??= this.ask().finally(() => (this.asking = null));
    return (await this.asking)?.token ?? null;
  };

  private async ask(): Promise<Held | null> {
    const getToken = this.portal();
    const granted = getToken ? await this.exchange(await getToken()) : await this.own();
    this.held = granted && this.kept(granted);
    return this.held;
  }

  private async exchange(token: string | null | undefined): Promise<Granted> {
    if (!token) throw new ApiError(401, 'getToken');
    return this.fetched('/api/auth/exchange', { method: 'POST', headers: { Authorization: `Bearer ${token}` } });
  }

  /** The token of somebody who has signed in to this server; only its own pages may have it. */
  private async own(): Promise<Granted | null> {
    if (new URL(this.base, location.href).origin !== location.origin || !(await this.signsIn())) return null;
    return this.fetched('/auth/token', {});
  }

  private async fetched(path: string, more: RequestInit): Promise<Granted> {
    const response = await fetch(this.base + path, { ...more, cache: 'no-store' });
    return (await checked(response, path)).json() as Promise<Granted>;
  }

  private kept({ access_token, expires_at }: Granted): Held {
    const end = Date.parse(expires_at) - AHEAD_MS;
    const least = this.now() + LEAST_MS;
    return { token: access_token, until: end > least ? end : least };
  }
}

/** A callback for portals that only name an address of theirs, which answers `{token}` to their signed-in user. */
export function tokenFrom(address: string): GetToken {
  return async () => {
    const response = await fetch(address, { credentials: 'same-origin', cache: 'no-store' });
    const { token } = (await (await checked(response, address)).json()) as { token?: unknown };
    if (typeof token !== 'string' || !token) throw new TypeError('no token');
    return token;
  };
}
