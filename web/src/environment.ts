/** What a connection needs of the world around it, so that a test can be that world. */

import type { TokenSource } from './api';
import type { Snapshot } from './protocol';
import type { Pending } from './reducer';

/** The part of a WebSocket that is used. */
export interface Socket {
  onopen: (() => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  send(data: string): void;
  close(): void;
}

/** Everything outside: sockets, REST, time, chance, storage. */
export interface Environment {
  connect(): Socket;
  snapshot(session: string): Promise<Snapshot>;
  token: TokenSource;
  /** Call `run` after `ms`; the result calls it off. */
  after(ms: number, run: () => void): () => void;
  random(): number;
  id(): string;
  loadPending(session: string): Pending[];
  savePending(session: string, pending: readonly Pending[]): void;
}
