/**
 * The frames of `assistant.v1` as TypeScript types. `d` of a durable frame has exactly the fields of the event of the
 * same name in assistant/core/events.py. Offsets are Unicode code points; dates are ISO 8601 strings.
 */

export const VERSION = 1;
export const SUBPROTOCOL = 'assistant.v1';

/** Names one life of a conversation's event log; only ever compared for equality. */
export type Epoch = string | number;
export type Authority = 'high' | 'medium' | 'low';
export type Verdict = 'supported' | 'partial' | 'unsupported' | 'contradicted';
export type CitationStatus = 'complete' | 'partial' | 'none';
export type TurnStatus = 'running' | 'completed' | 'cancelled' | 'failed';
export type Finish = 'stop' | 'length' | 'cancelled' | 'no_answer' | 'error';
export type SourceChange = 'updated' | 'deleted' | 'access_revoked';

export interface TurnAccepted {
  turn: string;
  client_id: string;
  text: string;
  by: string;
}

export interface DroppedPart {
  kind: string;
  ref: string;
  tokens: number;
  reason: string;
}

export interface Budget {
  window: number;
  system: number;
  history: number;
  evidence: number;
  question: number;
  output: number;
  margin: number;
  dropped: DroppedPart[];
}

export interface EvidenceShown {
  id: string;
  /** The display number; null until it is cited in the conversation. */
  n: number | null;
  title: string;
  uri: string;
  section: string;
  date: string | null;
  authority: Authority;
  score: number;
  tokens: number;
  conflicts: string[];
  preferred: boolean | null;
  flags: string[];
}

export interface TurnPlanned {
  standalone: string;
  mode: string;
  reason: string;
  reason_code: string;
  budget: Budget;
  evidence: EvidenceShown[];
  language: string;
  searched: string[];
  /** Whether the answer is JSON of a schema that was asked for. */
  structured?: boolean;
}

export interface TurnProgress {
  stage: string;
  done: number | null;
  total: number | null;
  /** What a step wrote: a draft, a partial answer. */
  text?: string | null;
  /** The code of the error of a step that failed; the answer goes on without it. */
  failed?: string | null;
}

export interface AnswerStarted {
  model: string;
  prompt: string;
}

export interface AnswerDelta {
  off: number;
  text: string;
}

export interface AnswerFinished {
  length: number;
  sha256: string;
  finish: Finish;
}

export interface CitedSource {
  document: string;
  version: number;
  sha256: string;
  title: string;
  uri: string;
  section: string;
  start: number;
  end: number;
  exact: string;
  page: number | null;
  date: string | null;
  authority: Authority;
  /** The id of the image that the text stands for, null or absent for text. */
  image?: string | null;
  /** Left, top, right and bottom of the image on its page, as fractions of the page's width and height. */
  region?: [number, number, number, number] | null;
}

export interface Citation {
  n: number;
  start: number;
  end: number;
  verdict: Verdict;
  score: number;
  evidence: string;
  source: CitedSource;
}

export interface SentenceVerdict {
  start: number;
  end: number;
  verdict: Verdict;
  score: number;
}

export interface CitationsAdded {
  status: CitationStatus;
  items: Citation[];
  unsupported: SentenceVerdict[];
  agreement: number | null;
}

export interface ConflictSide {
  evidence: string;
  n: number | null;
  claim: string;
  title: string;
  date: string | null;
  authority: Authority;
  preferred: boolean;
}

export interface ConflictShown {
  topic: string;
  kind: string;
  sides: ConflictSide[];
  resolution: 'newer' | 'authority' | 'unresolved';
  note: string;
  followed: 'preferred' | 'both' | 'other' | 'silent';
}

export interface ConflictsFound {
  items: ConflictShown[];
}

export interface UsageReported {
  calls: number;
  tokens_in: number;
  tokens_out: number;
  tokens_cached: number;
  cost: number | null;
  ms_first_token: number | null;
  ms_answer: number | null;
  ms_citations: number | null;
}

export interface TurnFinished {
  status: Exclude<TurnStatus, 'running'>;
  error: string | null;
  audit_id: string | null;
  record_hash: string | null;
}

/** What became of a cited passage (assistant/core/past_sources.py). */
export type SourceState = 'unchanged' | 'same_text' | 'changed' | 'deleted' | 'unknown' | 'not_available';

export interface SourceChanged {
  turn: string;
  n: number;
  change: SourceChange;
}

/** Durable events by type; each has a `seq`. */
export interface Durable {
  'turn.accepted': TurnAccepted;
  'turn.plan': TurnPlanned;
  'turn.progress': TurnProgress;
  'answer.start': AnswerStarted;
  'answer.delta': AnswerDelta;
  'answer.done': AnswerFinished;
  citations: CitationsAdded;
  conflicts: ConflictsFound;
  'turn.usage': UsageReported;
  'turn.done': TurnFinished;
  'source.changed': SourceChanged;
}

export interface SessionReady {
  session_id: string;
  epoch: Epoch;
  head_seq: number;
  recovered: boolean;
  replay_count: number;
  heartbeat_ms: number;
  auth_expires_at: string | null;
}

export interface ServerError {
  code: string;
  message_key: string;
  retryable: boolean;
  retry_after_ms?: number | null;
  ref_id?: string | null;
  incident?: string | null;
}

/** Control frames by type; they have no `seq` and are not replayed. */
export interface Control {
  'session.ready': SessionReady;
  'replay.done': { head_seq: number };
  ack: { id: string; duplicate: boolean; turn?: string | null };
  pong: { head_seq: number };
  'auth.expiring': { expires_at: string };
  'server.draining': { reconnect_after_ms: number };
  error: ServerError;
}

interface Envelope<T extends string, D> {
  v: 1;
  type: T;
  sid: string;
  turn?: string | null;
  ts: string;
  d: D;
}

export type DurableFrame = { [T in keyof Durable]: Envelope<T, Durable[T]> & { seq: number } }[keyof Durable];
export type ControlFrame = { [T in keyof Control]: Envelope<T, Control[T]> & { seq?: undefined } }[keyof Control];
export type Frame = DurableFrame | ControlFrame;

/** Commands by type, sent by the client. */
export interface Commands {
  'session.open': {
    token?: string;
    session_id?: string;
    resume?: { epoch: Epoch; seq: number };
    client: { name: string; version: string };
    locale: string;
  };
  'turn.start': { text: string; mode: string; scope?: { collections: string[] } };
  'turn.cancel': { turn: string };
  'auth.refresh': { token: string };
  'feedback.add': { turn: string; rating: Rating; reason?: string; correction?: string; citation?: number };
  ping: { seq: number };
}

export type Rating = 'up' | 'down';
export type Command = { [T in keyof Commands]: { v: 1; type: T; id: string; d: Commands[T] } }[keyof Commands];

/** A turn as the REST snapshot gives it: the fold of its events (assistant/core/turn.py). */
export interface TurnMessage {
  question: string;
  text: string;
  status: TurnStatus;
  stage: string;
  finish: Finish | null;
  sha256: string | null;
  model: string | null;
  prompt: string | null;
  error: string | null;
  plan: TurnPlanned | null;
  steps?: readonly TurnProgress[];
  citations: CitationsAdded | null;
  conflicts: ConflictsFound | null;
  usage: UsageReported | null;
  audit_id: string | null;
  record_hash: string | null;
  changes?: SourceChanged[];
}

/** GET /api/sessions/{id}: everything up to and including `as_of_seq`. */
export interface Snapshot {
  session_id: string;
  epoch: Epoch;
  as_of_seq: number;
  turns: { turn: string; message: TurnMessage }[];
}

/**
 * Read one text frame. Null for what is not a frame of this version. The types above are promised by the server;
 * here only the envelope is checked, fields are filled in where they are used.
 */
export function decode(data: unknown): Frame | null {
  if (typeof data !== 'string') return null;
  try {
    const value: unknown = JSON.parse(data);
    return isFrame(value) ? value : null;
  } catch {
    return null;
  }
}

function isFrame(value: unknown): value is Frame {
  if (typeof value !== 'object' || value === null) return false;
  const frame = value as Record<string, unknown>;
  const seq = frame['seq'];
  return (
    frame['v'] === VERSION &&
    typeof frame['type'] === 'string' &&
    typeof frame['sid'] === 'string' &&
    (seq === undefined || seq === null || Number.isSafeInteger(seq)) &&
    typeof frame['d'] === 'object' &&
    frame['d'] !== null
  );
}
