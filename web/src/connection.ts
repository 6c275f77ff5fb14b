/**
 * One conversation over one WebSocket, for as long as the page wants it: dials, resumes, repairs holes, sends every
 * command until it is acknowledged. What the frames amount to is the reducer's; here is only what happens when.
 */

import { ApiError } from './api';
import { backOff, isFinal } from './back-off';
import type { Environment, Socket } from './environment';
import type { CitedState } from './fates';
import { decode, VERSION, type Command, type Commands, type ControlFrame, type Frame } from './protocol';
import { EMPTY, forget, informed, reduce, restore, send, type Attached, type ChatState, type Pending } from './reducer';

/** `lost` is the code of the close from which the line is coming back, null before the first. */
export type Link =
  | { kind: 'idle' | 'live' }
  | { kind: 'connecting'; lost: number | null }
  | { kind: 'waiting'; ms: number; lost: number }
  | { kind: 'closed'; code: number };

export interface Ask {
  text: string;
  mode: string;
  collections: string[];
  attachments: Attached[];
}

const READY_WITHIN_MS = 10_000;
const WAKE_CHECK_MS = 5_000;
const HEARTBEAT_MS = 20_000;
const RATE_LIMITED_FROM = 4;

export class Connection {
  state: ChatState = EMPTY;
  link: Link = { kind: 'idle' };

  private socket: Socket | null = null;
  private outbox = new Map<string, Command>();
  /** Called when the command of this id is acknowledged. */
  private readonly noted = new Map<string, () => void>();
  private held: Frame[] | null = null;
  private timers: (() => void)[] = [];
  private stopBeat: () => void = () => undefined;
  private heartbeat = HEARTBEAT_MS;
  private silent = false;
  private ready = false;
  private attempt = 0;
  private dialNumber = 0;
  private holeAt = -1;
  private laggedAt = -1;
  private drainMs: number | null = null;
  private lostWith: number | null = null;
  private staleToken = false;
  private waiting: { made(session: string): void; gone(): void }[] = [];
  private openId = '';
  /** Whether a conversation is to be had even where there is none yet. */
  private wanted = false;

  constructor(
    private readonly env: Environment,
    private readonly client: { name: string; version: string },
    private readonly locale: () => string,
    private readonly changed: () => void,
  ) {}

  /** Leave the current conversation and open another one. Null is a new one, which the server makes when it is needed. */
  open(session: string | null): void {
    this.close();
    this.wanted = false;
    this.outbox.clear();
    this.noted.clear();
    for (const one of this.waiting.splice(0)) one.gone();
    this.state = { ...EMPTY, sessionId: session, need: session ? 'reload' : null };
    this.attempt = 0;
    this.lostWith = null;
    this.holeAt = -1;
    if (session) for (const pending of this.env.loadPending(session)) if (!pending.error) this.enqueue(pending);
    if (session) void this.dial();
  }

  /** A question is being written: have the line ready when it is sent. */
  warm(): void {
    this.wanted = true;
    if (this.link.kind === 'idle') void this.dial();
  }

  /** Ask a question; gives the id under which it waits in `state.pending`. */
  ask(question: Ask): string {
    const pending: Pending = { ...question, id: this.env.id(), error: null };
    this.enqueue(pending);
    this.remember();
    this.warm();
    this.wake();
    return pending.id;
  }

  /** Take a refused question back. */
  discard(id: string): void {
    this.outbox.delete(id);
    this.state = forget(this.state, id);
    this.remember();
    this.changed();
  }

  cancel(turn: string): void {
    this.command('turn.cancel', { turn });
  }

  /** Pass an opinion on; `noted` is called when the server has it. */
  feedback(d: Commands['feedback.add'], noted: () => void): void {
    this.noted.set(this.command('feedback.add', d), noted);
  }

  /** States of sources have come; `told` is what had been told when they were asked for. */
  learn(told: ChatState['told'], found: readonly CitedState[]): void {
    this.state = informed(this.state, told, found);
    this.changed();
  }

  /** The network or the page is back: try at once, or check that the line is alive. */
  wake(): void {
    if (this.link.kind === 'waiting') void this.dial();
    else if (this.link.kind === 'live' && this.ready && !this.silent) this.beat(WAKE_CHECK_MS);
  }

  /** The id of the conversation, which the server makes where there is none yet; rejects when another one is opened first. */
  session(): Promise<string> {
    const { sessionId } = this.state;
    if (sessionId) return Promise.resolve(sessionId);
    this.warm();
    return new Promise((made, gone) => this.waiting.push({ made, gone: () => gone(new Error('another conversation')) }));
  }

  /** Try again after a close that does not come back by itself. */
  retry(): void {
    this.attempt = 0;
    this.staleToken = true;
    void this.dial();
  }

  close(): void {
    this.hangUp();
    this.setLink({ kind: 'idle' });
  }

  // ---- commands -------------------------------------------------------------------------------------------------

  private enqueue(pending: Pending): void {
    const { id, text, mode, collections, attachments } = pending;
    const d = {
      text,
      mode,
      ...(collections.length ? { scope: { collections } } : {}),
      ...(attachments.length ? { attachments: attachments.map((file) => file.id) } : {}),
    };
    this.state = send(this.state, { ...pending, error: null });
    this.put({ v: VERSION, type: 'turn.start', id, d });
  }

  private command<T extends 'turn.cancel' | 'feedback.add'>(type: T, d: Commands[T]): string {
    const id = this.env.id();
    this.put({ v: VERSION, type, id, d } as Command);
    return id;
  }

  /** Keep the command until it is acknowledged, and send it now if the line is open. */
  private put(command: Command): void {
    this.outbox.set(command.id, command);
    if (this.ready) this.transmit(command);
    this.changed();
  }

  private transmit(command: Command): void {
    this.socket?.send(JSON.stringify(command));
  }

  private remember(): void {
    if (this.state.sessionId) this.env.savePending(this.state.sessionId, this.state.pending);
  }

  // ---- dialling -------------------------------------------------------------------------------------------------

  private async dial(): Promise<void> {
    this.hangUp();
    const number = this.dialNumber;
    this.setLink({ kind: 'connecting', lost: this.lostWith });
    try {
      const token = await this.env.token(this.staleToken);
      if (number !== this.dialNumber) return;
      this.staleToken = false;
      if (this.state.need === 'reload') await this.reload(number);
      if (number !== this.dialNumber) return;
      if (this.state.sessionId || this.wanted) this.connect(number, token);
      else this.setLink({ kind: 'idle' });
    } catch (error) {
      if (number === this.dialNumber) this.lost(error instanceof ApiError && [401, 403].includes(error.status) ? 4501 : 1006);
    }
  }

  private connect(number: number, token: string | null): void {
    const socket = this.env.connect();
    this.socket = socket;
    this.later(READY_WITHIN_MS, () => this.ready || this.lost(1006));
    socket.onopen = () => number === this.dialNumber && this.sayHello(token);
    socket.onmessage = (event) => number === this.dialNumber && this.receive(decode(event.data));
    socket.onclose = (event) => number === this.dialNumber && this.lost(event.code);
  }

  private sayHello(token: string | null): void {
    const { sessionId, epoch, seq } = this.state;
    this.openId = this.env.id();
    this.transmit({
      v: VERSION,
      type: 'session.open',
      id: this.openId,
      d: {
        ...(token ? { token } : {}),
        ...(sessionId ? { session_id: sessionId } : {}),
        ...(sessionId && epoch !== null ? { resume: { epoch, seq } } : {}),
        client: this.client,
        locale: this.locale(),
      },
    });
  }

  /** Load the snapshot; a conversation that is gone is replaced by a new one. */
  private async reload(number: number): Promise<void> {
    const session = this.state.sessionId;
    if (!session) return;
    try {
      const snapshot = await this.env.snapshot(session);
      if (number === this.dialNumber) this.state = restore(this.state, snapshot);
    } catch (error) {
      if (number !== this.dialNumber) return;
      if (!(error instanceof ApiError && error.status === 404)) throw error;
      this.state = { ...EMPTY, pending: this.state.pending };
    }
    this.changed();
  }

  /** The line is gone: come back later, at once, or not at all, as the close code says. */
  private lost(code: number): void {
    this.hangUp();
    if (isFinal(code)) return this.setLink({ kind: 'closed', code });
    if (code === 4003) this.staleToken = true;
    if (code === 4005 && this.state.sessionId) this.state = { ...this.state, need: 'reload' };
    if (code === 4004) this.attempt = Math.max(this.attempt, RATE_LIMITED_FROM);
    const ms = this.drainMs ?? backOff(this.attempt, this.env.random());
    this.drainMs = null;
    this.attempt++;
    this.lostWith = code;
    this.setLink({ kind: 'waiting', ms, lost: code });
    this.later(ms, () => void this.dial());
  }

  private hangUp(): void {
    this.dialNumber++;
    this.ready = false;
    this.silent = false;
    this.held = null;
    this.stopBeat();
    for (const stop of this.timers.splice(0)) stop();
    this.socket?.close();
    this.socket = null;
  }

  private later(ms: number, run: () => void): void {
    this.timers.push(this.env.after(ms, run));
  }

  private setLink(link: Link): void {
    this.link = link;
    this.changed();
  }

  // ---- frames ---------------------------------------------------------------------------------------------------

  private receive(frame: Frame | null): void {
    this.silent = false;
    if (!frame) return;
    if (typeof frame.seq === 'number' && this.held) {
      this.held.push(frame);
      return;
    }
    this.apply(frame);
    if (typeof frame.seq !== 'number') this.obey(frame as ControlFrame);
    this.repair();
    this.changed();
  }

  private apply(frame: Frame): void {
    const before = this.state.pending;
    this.state = reduce(this.state, frame);
    if (frame.type === 'turn.accepted') this.outbox.delete(frame.d.client_id);
    if (this.state.pending !== before) this.remember();
  }

  private obey(frame: ControlFrame): void {
    switch (frame.type) {
      case 'session.ready':
        return this.begin(frame.d.heartbeat_ms);
      case 'replay.done':
        this.attempt = 0;
        this.lostWith = null;
        return;
      case 'ack':
        this.outbox.delete(frame.d.id);
        this.noted.get(frame.d.id)?.();
        this.noted.delete(frame.d.id);
        return;
      case 'error':
        return this.refused(frame.d.ref_id ?? '', frame.d.code);
      case 'pong':
        return this.compare(frame.d.head_seq);
      case 'auth.expiring':
        return void this.refreshToken();
      case 'server.draining':
        this.drainMs = frame.d.reconnect_after_ms;
        return;
    }
  }

  private begin(heartbeat: number | undefined): void {
    this.ready = true;
    this.heartbeat = heartbeat && heartbeat > 0 ? heartbeat : HEARTBEAT_MS;
    this.setLink({ kind: 'live' });
    this.remember();
    for (const one of this.waiting.splice(0)) one.made(this.state.sessionId!);
    for (const command of this.outbox.values()) this.transmit(command);
    this.stopBeat();
    this.stopBeat = this.env.after(this.heartbeat, () => this.beat(this.heartbeat));
  }

  private refused(id: string, code: string): void {
    this.outbox.delete(id);
    if (id !== this.openId || code !== 'not_found') return;
    this.state = { ...EMPTY, pending: this.state.pending };
    void this.dial();
  }

  private async refreshToken(): Promise<void> {
    const number = this.dialNumber;
    const token = await this.env.token(true).catch(() => null);
    if (token && number === this.dialNumber && this.ready) {
      this.transmit({ v: VERSION, type: 'auth.refresh', id: this.env.id(), d: { token } });
    }
  }

  // ---- repair and heartbeat -------------------------------------------------------------------------------------

  /** Fetch again what the reducer found missing: the frames after the last number, else the snapshot. */
  private repair(): void {
    const { need, seq } = this.state;
    if (need === 'resume' && this.holeAt !== seq) {
      this.holeAt = seq;
      void this.dial();
    } else if (need && !this.held && this.ready) {
      void this.reloadInPlace();
    }
  }

  /** Load the snapshot while the socket goes on; frames that come meanwhile wait. */
  private async reloadInPlace(): Promise<void> {
    const number = this.dialNumber;
    this.held = [];
    try {
      await this.reload(number);
    } catch {
      if (number === this.dialNumber) this.lost(1006);
      return;
    }
    if (number !== this.dialNumber) return;
    const frames = this.held;
    this.held = null;
    if (this.state.sessionId === null) return void this.dial();
    for (const frame of frames) this.apply(frame);
    this.repair();
    this.changed();
  }

  /** Two heartbeats in a row that show the same lag mean that frames were lost on the way. */
  private compare(head: number): void {
    const { seq, need } = this.state;
    if (head > seq && this.laggedAt === seq && !need) this.state = { ...this.state, need: 'resume' };
    this.laggedAt = head > seq ? seq : -1;
  }

  private beat(answerWithin: number): void {
    if (this.silent) return this.lost(1006);
    this.silent = true;
    this.transmit({ v: VERSION, type: 'ping', id: this.env.id(), d: { seq: this.state.seq } });
    this.stopBeat();
    this.stopBeat = this.env.after(answerWithin, () => this.beat(this.heartbeat));
  }
}
