/** A clock that is turned by hand and a server that keeps a log, for the connection. */

import { ApiError } from '../src/api';
import { Connection } from '../src/connection';
import type { Environment, Socket } from '../src/environment';
import type { Command, DurableFrame, Frame, Snapshot } from '../src/protocol';
import { EMPTY, reduce, type Pending } from '../src/reducer';
import { frame, SID } from './transcript';

export class FakeSocket implements Socket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  sent: Command[] = [];
  closed = false;

  send(data: string): void {
    this.sent.push(JSON.parse(data) as Command);
  }

  close(): void {
    this.closed = true;
  }

  of<T extends Command['type']>(type: T): Extract<Command, { type: T }>[] {
    return this.sent.filter((command): command is Extract<Command, { type: T }> => command.type === type);
  }

  say(...frames: Frame[]): void {
    for (const one of frames) this.onmessage?.({ data: JSON.stringify(one) });
  }
}

interface Timer {
  at: number;
  run: () => void;
}

export class World implements Environment {
  now = 0;
  sockets: FakeSocket[] = [];
  snapshots: string[] = [];
  tokens: boolean[] = [];
  token_: string | null = null;
  luck = 0.5;
  stored = new Map<string, Pending[]>();
  log: DurableFrame[] = [];
  epoch = 'e1';
  snapshotStatus = 200;
  private timers: Timer[] = [];
  private ids = 0;

  connection = new Connection(
    this,
    { name: 'test', version: '1' },
    () => 'en',
    () => undefined,
  );

  connect(): FakeSocket {
    const socket = new FakeSocket();
    this.sockets.push(socket);
    return socket;
  }

  snapshot(session: string): Promise<Snapshot> {
    this.snapshots.push(session);
    if (this.snapshotStatus !== 200) return Promise.reject(new ApiError(this.snapshotStatus, '/'));
    const { turns } = this.log.reduce<typeof EMPTY>(reduce, EMPTY);
    const whole = {
      session_id: session,
      epoch: this.epoch,
      as_of_seq: this.log.length,
      turns: turns.map((message) => ({ turn: message.turn, message })),
    };
    return Promise.resolve(JSON.parse(JSON.stringify(whole)) as Snapshot);
  }

  token(fresh: boolean): Promise<string | null> {
    this.tokens.push(fresh);
    return Promise.resolve(this.token_);
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.now + ms, run };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  random(): number {
    return this.luck;
  }

  id(): string {
    return `id${++this.ids}`;
  }

  loadPending(session: string): Pending[] {
    return this.stored.get(session) ?? [];
  }

  savePending(session: string, pending: readonly Pending[]): void {
    this.stored.set(session, [...pending]);
  }

  /** Let `ms` pass, running what falls due in its order. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    await settle();
    for (;;) {
      const due = this.timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.timers = this.timers.filter((timer) => timer !== due);
      this.now = due.at;
      due.run();
      await settle();
    }
    this.now = end;
  }

  get socket(): FakeSocket {
    return this.sockets.at(-1)!;
  }

  /** Accept the newest socket and answer its session.open as the protocol says. */
  async accept(more: object = {}): Promise<FakeSocket> {
    await settle();
    const { socket } = this;
    socket.onopen?.();
    const { resume } = socket.of('session.open').at(-1)!.d;
    const whole = !resume || resume.epoch === this.epoch;
    const missed = resume && whole ? this.log.slice(resume.seq) : [];
    socket.say(
      frame('session.ready', {
        session_id: SID,
        epoch: this.epoch,
        head_seq: this.log.length,
        recovered: whole,
        replay_count: missed.length,
        heartbeat_ms: 20_000,
        auth_expires_at: null,
        ...more,
      }),
      ...missed,
      frame('replay.done', { head_seq: this.log.length }),
    );
    await settle();
    return socket;
  }

  /** The line breaks with this code. */
  async drop(code = 1006): Promise<void> {
    this.socket.onclose?.({ code });
    await settle();
  }
}

export async function settle(): Promise<void> {
  for (let i = 0; i < 12; i++) await Promise.resolve();
}
