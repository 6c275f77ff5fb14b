/** The REST side of the server: what does not stream. Every call throws ApiError when the server does not give a 2xx. */

import { callsOf, type ModelCall } from './calls';
import { statesOf, type CitedState } from './fates';
import { pastSourceOf, type PastSource } from './past-source';
import type { Snapshot } from './protocol';
import type { Attached } from './reducer';

export interface Config {
  model: string;
  title: string;
  examples: string[];
  languages: string[];
  /** Collections to choose from, and names of the modes that the server offers; each may be missing. */
  collections?: string[];
  modes?: string[];
  /** Path under which people sign in to the server's own pages; missing or empty where they do not. */
  sign_in?: string;
  /** How many files one conversation may hold, 0 for none; missing: as many as the server takes. */
  files?: number;
}

export interface ConversationItem {
  session_id: string;
  title: string;
  created_at: string;
  updated_at: string;
  turns: number;
}

/** Some of the conversations, the latest first; `next` is the cursor of those that follow. */
export interface ConversationPage {
  sessions: ConversationItem[];
  next?: string | null;
}

export type ExportFormat = 'markdown' | 'json';

export class ApiError extends Error {
  constructor(
    readonly status: number,
    path: string,
    /** The stable code of the error, and what is wrong; empty where the answer does not say. */
    readonly code = '',
    readonly reason = '',
  ) {
    super(`${status} ${path}`);
  }
}

/** Gives the bearer token, a fresh one when asked; null where the page is authenticated by other means (a cookie, a proxy). */
export type TokenSource = (fresh: boolean) => Promise<string | null>;

interface Sent {
  method?: string;
  accept?: string;
  headers?: Record<string, string>;
  body?: string | Blob;
}

export class Api {
  constructor(
    /** Origin and path prefix of the server, without a slash at the end. */
    readonly base: string,
    private readonly token: TokenSource,
  ) {}

  /** What everybody may know, asked without a token; with one, what this person may know. */
  async config(known = false): Promise<Config> {
    return known ? this.get('/api/config') : ((await this.send('/api/config', {}, null)).json() as Promise<Config>);
  }

  /** The conversations that hold these words, all where there are none. */
  conversations(query: string, cursor: string | null, limit: number): Promise<ConversationPage> {
    const wanted = new URLSearchParams({ limit: String(limit) });
    if (query) wanted.set('query', query);
    if (cursor) wanted.set('cursor', cursor);
    return this.get<ConversationPage>(`/api/sessions?${wanted}`);
  }

  async rename(session: string, title: string): Promise<void> {
    const headers = { 'Content-Type': 'application/json' };
    await this.ask(sessionPath(session), { method: 'PATCH', headers, body: JSON.stringify({ title }) });
  }

  async remove(session: string): Promise<void> {
    await this.ask(sessionPath(session), { method: 'DELETE' });
  }

  /** A whole conversation as a file. */
  async export(session: string, format: ExportFormat): Promise<Blob> {
    return (await this.ask(`${sessionPath(session)}/export?format=${format}`, { accept: '*/*' })).blob();
  }

  /** Give a file to a conversation; its name travels percent-encoded. */
  async attach(session: string, file: File): Promise<Attached> {
    const headers = {
      'Content-Type': file.type || 'application/octet-stream',
      'X-File-Name': encodeURIComponent(file.name.toWellFormed()),
    };
    const response = await this.ask(`${sessionPath(session)}/files`, { method: 'POST', headers, body: file });
    return (await response.json()) as Attached;
  }

  /** Take a file back. */
  async detach(session: string, id: string): Promise<void> {
    await this.ask(`${sessionPath(session)}/files/${encodeURIComponent(id)}`, { method: 'DELETE' });
  }

  snapshot(session: string): Promise<Snapshot> {
    return this.get<Snapshot>(sessionPath(session));
  }

  /** The source of citation `n` as it was and is; `start` is the place in it, as one number can stand for several. */
  async source(session: string, turn: string, n: number, start: number): Promise<PastSource> {
    return pastSourceOf(await this.get<unknown>(`${turnPath(session, turn)}/citations/${n}/source?start=${start}`));
  }

  /** What became of every source of a conversation. */
  async sources(session: string): Promise<CitedState[]> {
    return statesOf(await this.get<unknown>(`${sessionPath(session)}/sources`));
  }

  /** The model calls of a turn, in the order in which they ended. */
  async calls(session: string, turn: string): Promise<ModelCall[]> {
    return callsOf(await this.get<unknown>(`${turnPath(session, turn)}/calls`));
  }

  /** The bytes of an image among the evidence of a turn. */
  async image(session: string, turn: string, id: string): Promise<Blob> {
    return (await this.ask(`${turnPath(session, turn)}/images/${encodeURIComponent(id)}`, { accept: 'image/*' })).blob();
  }

  private async get<T>(path: string): Promise<T> {
    return (await (await this.ask(path, {})).json()) as T;
  }

  /** With the token at hand, and once more with a fresh one when that is refused. */
  private async ask(path: string, sent: Sent): Promise<Response> {
    const token = await this.token(false);
    try {
      return await this.send(path, sent, token);
    } catch (error) {
      if (!token || !(error instanceof ApiError) || error.status !== 401) throw error;
      return this.send(path, sent, await this.token(true));
    }
  }

  private async send(path: string, sent: Sent, token: string | null): Promise<Response> {
    const { method = 'GET', accept = 'application/json', headers, body } = sent;
    const said: Record<string, string> = { Accept: accept, ...headers };
    if (token) said['Authorization'] = `Bearer ${token}`;
    return checked(await fetch(this.base + path, { method, headers: said, cache: 'no-store', ...(body ? { body } : {}) }), path);
  }
}

/** The response, else ApiError with the code that the server gave. */
export async function checked(response: Response, path: string): Promise<Response> {
  if (response.ok) return response;
  const body = (await response.json().catch(() => null)) as { error?: { code?: unknown; reason?: unknown } } | null;
  const { code, reason } = body?.error ?? {};
  throw new ApiError(response.status, path, typeof code === 'string' ? code : '', typeof reason === 'string' ? reason : '');
}

const sessionPath = (session: string): string => `/api/sessions/${encodeURIComponent(session)}`;

const turnPath = (session: string, turn: string): string => `${sessionPath(session)}/turns/${encodeURIComponent(turn)}`;

/** The address of the socket that belongs to a base address. */
export function socketUrl(base: string): string {
  return `${base.replace(/^http/, 'ws')}/v1/ws`;
}
