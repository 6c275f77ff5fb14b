/**
 * Made from the code of the server by `assistant contracts`: not to be changed by hand.
 * Dates are ISO 8601 strings.
 */

export const VERSION = 1;
export const SUBPROTOCOL = 'assistant.v1';

/**
 * The question is stored; `by` is the pseudonymous user, `client_id` the idempotency key of the start.
 *
 * `attachments` are the titles of the files that came with it.
 */
export interface TurnAccepted {
  turn: string;
  client_id: string;
  text: string;
  by: string;
  attachments: readonly string[];
}

/**
 * Something that was left out of the prompt or shortened.
 *
 * kind is history or evidence; ref is a turn or evidence id; tokens is what was saved; reason is a stable word:
 * shortened, no_room.
 */
export interface Dropped {
  kind: string;
  ref: string;
  tokens: number;
  reason: string;
}

/** The division of the window in tokens. The six parts add up to at most `window`. */
export interface BudgetPlan {
  window: number;
  system: number;
  history: number;
  evidence: number;
  question: number;
  output: number;
  margin: number;
  dropped: readonly Dropped[];
}

/** How much weight a document has when two of about the same date disagree. */
export type Authority = 'high' | 'medium' | 'low';

/** One piece of evidence in the plan, without its text; `n` is its display number once it was cited in the conversation. */
export interface EvidenceShown {
  id: string;
  n: number | null;
  title: string;
  uri: string;
  section: string;
  date: string | null;
  authority: Authority;
  score: number;
  tokens: number;
  conflicts: readonly string[];
  preferred: boolean | null;
  flags: readonly string[];
}

/** The plan of the turn: what is asked, how it will be answered and from what. */
export interface TurnPlanned {
  standalone: string;
  mode: string;
  reason: string;
  reason_code: string;
  budget: BudgetPlan;
  evidence: readonly EvidenceShown[];
  language: string;
  searched: readonly string[];
  structured: boolean;
}

/**
 * A stage was reached (rewrite, search, select, read, write, cite); done of total where it counts.
 *
 * `text` is what the step wrote (a draft, a partial answer), `failed` the code of the error when it failed and the
 * answer goes on without it.
 */
export interface TurnProgress {
  stage: string;
  done: number | null;
  total: number | null;
  text: string | null;
  failed: string | null;
}

/**
 * The model begins to write; `prompt` is the hash of the prompt files in use, `parameters` those of its sampling.
 *
 * `from_cache` is the turn whose answer is given again without asking a model.
 */
export interface AnswerStarted {
  model: string;
  prompt: string;
  parameters: readonly (readonly [string, number])[];
  from_cache: string | null;
}

/** A piece of the answer that starts at offset `off` of its text. */
export interface AnswerDelta {
  off: number;
  text: string;
}

/**
 * The text is complete: its length, the sha256 of its UTF-8 bytes, and how it ended.
 *
 * finish is stop, length, cancelled, no_answer or error.
 */
export interface AnswerFinished {
  length: number;
  sha256: string;
  finish: 'stop' | 'length' | 'cancelled' | 'no_answer' | 'error';
}

/** Whether all, some or no sentence of the answer that states something is cited. */
export type CitationStatus = 'complete' | 'partial' | 'none';

/** How far the evidence carries a sentence of the answer. */
export type Verdict = 'supported' | 'partial' | 'unsupported' | 'contradicted';

/**
 * The place a citation points to: `exact` is the stored text of the version at start..end (code points).
 *
 * `image` is the id of the image whose caption stands there, `region` its part of the page; None for plain text.
 */
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
  image: string | null;
  region: readonly [number, number, number, number] | null;
}

/**
 * One sentence of the answer tied to one place of one document version.
 *
 * `n` is the display number of the evidence, stable in a conversation; start..end lie in the answer; score is 0..1.
 */
export interface Citation {
  n: number;
  start: number;
  end: number;
  verdict: Verdict;
  score: number;
  evidence: string;
  source: CitedSource;
}

/**
 * The verdict on one sentence of the answer (start..end) and its support score 0..1.
 *
 * `nearest` is the place that comes closest to a sentence that no evidence carries: no citation, but where a person
 * would begin to check.
 */
export interface SentenceVerdict {
  start: number;
  end: number;
  verdict: Verdict;
  score: number;
  nearest: CitedSource | null;
}

/** The finished answer tied to its sources; `unsupported` lists sentences that the evidence does not carry. */
export interface CitationsAdded {
  status: CitationStatus;
  items: readonly Citation[];
  unsupported: readonly SentenceVerdict[];
  agreement: number | null;
}

/** One side of a conflict: the quoted claim, its evidence, and the display number (None when not cited). */
export interface ConflictSide {
  evidence: string;
  n: number | null;
  claim: string;
  title: string;
  date: string | null;
  authority: Authority;
  preferred: boolean;
}

/** One conflict of the evidence; `followed` says what the answer did: preferred, both, other, silent. */
export interface ConflictShown {
  topic: string;
  kind: 'number' | 'money' | 'percent' | 'date' | 'duration' | 'polarity' | 'option' | 'superseded' | 'statement';
  sides: readonly ConflictSide[];
  resolution: 'newer' | 'authority' | 'unresolved';
  note: string;
  followed: 'preferred' | 'both' | 'other' | 'silent';
}

/** The conflicts of the evidence of this turn. */
export interface ConflictsFound {
  items: readonly ConflictShown[];
}

/** What the turn cost: tokens, US dollars where known, and milliseconds from the start of the turn. */
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

/**
 * The end of the turn, exactly one per turn: completed, cancelled or failed (then `error` is a stable code).
 *
 * `retry_after_ms` says after how long it may be asked again, where that is known.
 */
export interface TurnFinished {
  status: 'completed' | 'cancelled' | 'failed';
  error: string | null;
  audit_id: string | null;
  record_hash: string | null;
  retry_after_ms: number | null;
}

/**
 * A cited document is no longer as it was when it was cited; may come days after the end of the turn.
 *
 * change is updated (there is a newer version), deleted, or access_revoked (those who could read it then may not now).
 */
export interface SourceChanged {
  turn: string;
  n: number;
  change: 'updated' | 'deleted' | 'access_revoked';
}

/** What the server accepts on this socket. */
export interface Limits {
  frame_bytes: number;
  question_chars: number;
  running_turns: number;
  starts_per_minute: number;
}

/** The session is open; events after the client's number follow when `recovered`, else a snapshot must be loaded. */
export interface SessionReady {
  session_id: string;
  epoch: string;
  head_seq: number;
  recovered: boolean;
  replay_count: number;
  heartbeat_ms: number;
  auth_expires_at?: string;
  limits: Limits;
}

/** All missed events were sent; what follows is live. */
export interface ReplayDone {
  head_seq: number;
}

/** A command was taken: `id` is the client frame's. */
export interface Ack {
  id: string;
  duplicate: boolean;
  turn?: string;
}

/** Answer to a ping. */
export interface Pong {
  head_seq: number;
}

/** The token ends soon: send auth.refresh before, else the socket closes with 4003. */
export interface AuthExpiring {
  expires_at: string;
}

/** This server stops: the socket closes with 4002; come back after the given time. */
export interface ServerDraining {
  reconnect_after_ms: number;
}

/** A command was refused, or the server failed; `message_key` is for translation, `incident` for the operator. */
export interface ErrorShown {
  code: string;
  message_key: string;
  retryable: boolean;
  retry_after_ms?: number;
  ref_id?: string;
  incident: string;
}

/** Where the client stands: the epoch it knows and the last number it applied. */
export interface Resume {
  epoch: string;
  seq: number;
}

/** What the client calls itself. */
export interface ClientInfo {
  name?: string;
  version?: string;
}

/** Identity, session and place to resume from; must be the first frame. */
export interface OpenData {
  token?: string | null;
  session_id?: string | null;
  resume?: Resume | null;
  client?: ClientInfo;
  locale?: string;
}

/** Opens the socket's session. */
export interface SessionOpen {
  type: 'session.open';
  id: string;
  d: OpenData;
}

/** Which collections may be searched; empty means all. */
export interface Scope {
  collections?: readonly string[];
}

/** A question; `mode` is auto or the name of a mode, `schema` the JSON schema of a structured answer. */
export interface StartData {
  text: string;
  mode?: string;
  scope?: Scope | null;
  schema?: Record<string, unknown> | null;
  attachments?: readonly string[];
}

/** Asks a question; `id` is the idempotency key. */
export interface TurnStart {
  type: 'turn.start';
  id: string;
  d: StartData;
}

/** The turn to stop. */
export interface CancelData {
  turn: string;
}

/** Stops a running turn. */
export interface TurnCancel {
  type: 'turn.cancel';
  id: string;
  d: CancelData;
}

/** A newer token of the same person. */
export interface RefreshData {
  token: string;
}

/** Goes on with a newer token; of another person it closes the socket. */
export interface AuthRefresh {
  type: 'auth.refresh';
  id: string;
  d: RefreshData;
}

/** What a person says of an answer. */
export interface FeedbackData {
  turn: string;
  rating: 'up' | 'down';
  reason?: string | null;
  correction?: string | null;
  citation?: number | null;
}

/** Rates an answer; acknowledged when it is stored. */
export interface FeedbackAdd {
  type: 'feedback.add';
  id: string;
  d: FeedbackData;
}

/** The last number that the client applied. */
export interface PingData {
  seq?: number;
}

/** Keeps the socket alive. */
export interface Ping {
  type: 'ping';
  id: string;
  d?: PingData;
}

/** A turn as the fold of its events; of a `withheld` one there is nothing but what was asked, how it ended and what it cost. */
export interface TurnMessage {
  question: string;
  text: string;
  status: 'running' | 'completed' | 'cancelled' | 'failed';
  stage: string;
  finish: 'stop' | 'length' | 'cancelled' | 'no_answer' | 'error' | null;
  sha256: string | null;
  model: string | null;
  prompt: string | null;
  error: string | null;
  retry_after_ms: number | null;
  audit_id: string | null;
  record_hash: string | null;
  from_cache: string | null;
  plan: TurnPlanned | null;
  citations: CitationsAdded | null;
  conflicts: ConflictsFound | null;
  usage: UsageReported | null;
  attachments: readonly string[];
  steps: readonly TurnProgress[];
  changes: readonly SourceChanged[];
  withheld: boolean;
}

/** A turn of a session. */
export interface SessionTurn {
  turn: string;
  message: TurnMessage;
}

/** A whole session: everything up to and including event `as_of_seq`. */
export interface Snapshot {
  session_id: string;
  epoch: string;
  as_of_seq: number;
  turns: readonly SessionTurn[];
}

/** Numbered events by type. */
export interface Numbered {
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
  'turn.withheld': Record<string, never>;
}

/** Control frames by type; they have no `seq` and are not replayed. */
export interface Control {
  'session.ready': SessionReady;
  'replay.done': ReplayDone;
  ack: Ack;
  pong: Pong;
  'auth.expiring': AuthExpiring;
  'server.draining': ServerDraining;
  error: ErrorShown;
}

/** Commands by type, sent by the client. */
export interface Commands {
  'session.open': SessionOpen['d'];
  'turn.start': TurnStart['d'];
  'turn.cancel': TurnCancel['d'];
  'auth.refresh': AuthRefresh['d'];
  'feedback.add': FeedbackAdd['d'];
  ping: Ping['d'];
}
