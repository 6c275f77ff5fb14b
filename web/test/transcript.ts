/** Frames of made-up conversations, numbered and hashed as a server would. */

import { createHash } from 'node:crypto';

import type { Durable, DurableFrame, Frame, SessionReady, TurnProgress } from '../src/protocol';

export const SID = 's1';

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

export const frame = (type: string, d: unknown, more: object = {}): Frame =>
  ({ v: 1, type, sid: SID, ts: '2025-01-01T00:00:00Z', d, ...more }) as Frame;

export const ready = (d: Partial<SessionReady> = {}): Frame =>
  frame('session.ready', {
    session_id: SID,
    epoch: 'e1',
    head_seq: 0,
    recovered: true,
    replay_count: 0,
    heartbeat_ms: 20000,
    auth_expires_at: null,
    ...d,
  });

type Event = { [T in keyof Durable]: [T, Durable[T], string] }[keyof Durable];

export const numbered = (events: Event[]): DurableFrame[] =>
  events.map(([type, d, turn], i) => frame(type, d, { seq: i + 1, turn }) as DurableFrame);

/** The events of one whole turn with these steps, whose answer comes in these chunks. */
export function turnEvents(
  turn: string,
  question: string,
  chunks: string[],
  status: 'completed' | 'cancelled' = 'completed',
  steps: TurnProgress[] = [],
): Event[] {
  const text = chunks.join('');
  let off = 0;
  const deltas: Event[] = chunks.map((chunk) => {
    const event: Event = ['answer.delta', { off, text: chunk }, turn];
    off += [...chunk].length;
    return event;
  });
  return [
    ['turn.accepted', { turn, client_id: `c-${turn}`, text: question, by: 'u1', attachments: [] }, turn],
    ['turn.progress', { stage: 'search', done: null, total: null, text: null, failed: null }, turn],
    ...steps.map((step): Event => ['turn.progress', step, turn]),
    ['answer.start', { model: 'm', prompt: 'p', parameters: [], from_cache: null }, turn],
    ...deltas,
    ['answer.done', { length: off, sha256: digest(text), finish: status === 'completed' ? 'stop' : 'cancelled' }, turn],
    ['citations', { status: 'none', items: [], unsupported: [], agreement: null }, turn],
    [
      'turn.usage',
      {
        calls: 1,
        tokens_in: 1,
        tokens_out: 1,
        tokens_cached: 0,
        cost: null,
        ms_first_token: 1,
        ms_answer: 2,
        ms_citations: 3,
      },
      turn,
    ],
    ['turn.done', { status, error: null, retry_after_ms: null, audit_id: 'a1', record_hash: 'h1' }, turn],
  ];
}
