/** The REST side of the server: what does not stream. Every call throws ApiError when the server does not give a 2xx. */

import { callsOf, type ModelCall } from './calls';
import { statesOf, type CitedState } from './fates';
import { pastSourceOf, type PastSource } from './past-source';
import type { Snapshot } from './protocol';

export interface Config {
  model: string;
  title: string;
  examples: string[];
  languages: string[];
  /** Collections to choose from, and names of the modes that the server offers; each may be missing. */
  collections?: string[];
  modes?: string[];
}

export interface ConversationItem {
  session_id: string;
  title: string;
  created_at: string;
  updated_at: string;
  turns: number;
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    path: string,
  ) {
    super(`${status} ${path}`);
  }
}

/** Gives the bearer token, a fresh one when asked; null where the page is authenticated by other means (a cookie, a proxy). */
export type TokenSource = (fresh: boolean) => Promise<string | null>;

export class Api {
  constructor(
    /** Origin and path prefix of the server, without a slash at the end. */
    readonly base: string,
    private readonly token: TokenSource,
  ) {}

  config(): Promise<Config> {
    return this.get<Config>('/api/config');
  }

  async conversations(): Promise<ConversationItem[]> {
    return (await this.get<{ sessions: ConversationItem[] }>('/api/sessions')).sessions;
  }

  snapshot(session: string): Promise<Snapshot> {
    return this.get<Snapshot>(`/api/sessions/${encodeURIComponent(session)}`);
  }

  /** The source of citation `n` as it was and is; `start` is the place in it, as one number can stand for several. */
  async source(session: string, turn: string, n: number, start: number): Promise<PastSource> {
    return pastSourceOf(await this.get<unknown>(`${turnPath(session, turn)}/citations/${n}/source?start=${start}`));
  }

  /** What became of every source of a conversation. */
  async sources(session: string): Promise<CitedState[]> {
    return statesOf(await this.get<unknown>(`/api/sessions/${encodeURIComponent(session)}/sources`));
  }

  /** The model calls of a turn, in the order in which they ended. */
  async calls(session: string, turn: string): Promise<ModelCall[]> {
    return callsOf(await this.get<unknown>(`${turnPath(session, turn)}/calls`));
  }

  /** The bytes of an image among the evidence of a turn. */
  async image(session: string, turn: string, id: string): Promise<Blob> {
    return (await this.ask(`${turnPath(session, turn)}/images/${encodeURIComponent(id)}`, 'image/*')).blob();
  }

  private async get<T>(path: string): Promise<T> {
    return (await (await this.ask(path, 'application/json')).json()) as T;
  }

  private async ask(path: string, accept: string): Promise<Response> {
    const token = await this.token(false);
    const headers: Record<string, string> = { Accept: accept };
    if (token) headers['Authorization'] = `Bearer ${token}`;
    const response = await fetch(this.base + path, { headers, cache: 'no-store' });
    if (!response.ok) throw new ApiError(response.status, path);
    return response;
  }
}

const turnPath = (session: string, turn: string): string =>
  `/api/sessions/${encodeURIComponent(session)}/turns/${encodeURIComponent(turn)}`;

/** The address of the socket that belongs to a base address. */
export function socketUrl(base: string): string {
  return `${base.replace(/^http/, 'ws')}/v1/ws`;
}
