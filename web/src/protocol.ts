/**
 * The frames of `assistant.v1`. Their types are made from the code of the server (protocol.generated.ts); here is what the
 * page makes of them. Offsets are Unicode code points; dates are ISO 8601 strings.
 */

import type {
  AnswerFinished,
  Commands as Sent,
  Control,
  FeedbackData,
  Numbered,
  Snapshot as SentSnapshot,
  TurnMessage as SentMessage,
} from './protocol.generated';
import { VERSION } from './protocol.generated';

export type {
  AnswerDelta,
  AnswerFinished,
  AnswerStarted,
  Authority,
  BudgetPlan as Budget,
  Citation,
  CitationsAdded,
  CitationStatus,
  CitedSource,
  ConflictShown,
  ConflictSide,
  ConflictsFound,
  Control,
  Dropped as DroppedPart,
  ErrorShown as ServerError,
  EvidenceShown,
  Numbered as Durable,
  SentenceVerdict,
  SessionReady,
  SourceChanged,
  TurnAccepted,
  TurnFinished,
  TurnPlanned,
  TurnProgress,
  UsageReported,
  Verdict,
} from './protocol.generated';
export { SUBPROTOCOL, VERSION } from './protocol.generated';

/** Names one life of a conversation's event log; only ever compared for equality. */
export type Epoch = string;
export type Finish = AnswerFinished['finish'];
export type Rating = FeedbackData['rating'];
export type SourceChange = Numbered['source.changed']['change'];
export type TurnStatus = SentMessage['status'];

/** A turn as the snapshot gives it; what servers of former versions do not tell may be absent. */
type Newer = 'attachments' | 'changes' | 'from_cache' | 'steps' | 'withheld';
export type TurnMessage = Omit<SentMessage, Newer> & Partial<Pick<SentMessage, Newer>>;

/** GET /api/sessions/{id}: everything up to and including `as_of_seq`. */
export type Snapshot = Omit<SentSnapshot, 'turns'> & { turns: readonly { turn: string; message: TurnMessage }[] };

/** What became of a cited passage (assistant/core/past_sources.py). */
export type SourceState = 'unchanged' | 'same_text' | 'changed' | 'deleted' | 'unknown' | 'not_available';

interface Envelope<T extends string, D> {
  v: 1;
  type: T;
  sid: string;
  turn?: string | null;
  ts: string;
  d: D;
}

export type DurableFrame = { [T in keyof Numbered]: Envelope<T, Numbered[T]> & { seq: number } }[keyof Numbered];
export type ControlFrame = { [T in keyof Control]: Envelope<T, Control[T]> & { seq?: undefined } }[keyof Control];
export type Frame = DurableFrame | ControlFrame;

/** Commands by type, sent by the client. */
export type Commands = Sent;
export type Command = { [T in keyof Commands]: { v: 1; type: T; id: string; d: Commands[T] } }[keyof Commands];

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
