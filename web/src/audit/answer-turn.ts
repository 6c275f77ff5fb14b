/** An opened record as the turn that the elements of the chat draw. */

import { codePoints, type TurnState } from '../reducer';
import { citationsOf, conflictsOf, textOf, textOrNull, usageOf, type Opened } from './records';

const STATUSES = ['completed', 'cancelled', 'failed'] as const;
const FINISHES = ['stop', 'length', 'cancelled', 'no_answer', 'error'] as const;

/** What these elements read of a turn. */
export type AnswerTurn = Pick<
  TurnState,
  | 'turn'
  | 'question'
  | 'text'
  | 'length'
  | 'status'
  | 'finish'
  | 'model'
  | 'plan'
  | 'citations'
  | 'conflicts'
  | 'usage'
  | 'audit_id'
>;

export function turnOf({ record, texts, plan }: Opened): AnswerTurn {
  const { body } = record;
  const text = texts?.['answer'] ?? '';
  return {
    turn: record.turn ?? '',
    question: texts?.['question'] ?? '',
    text,
    length: codePoints(text),
    status: STATUSES.find((status) => status === body['status']) ?? 'failed',
    finish: FINISHES.find((finish) => finish === body['finish']) ?? null,
    model: textOrNull(body['model']),
    plan: plan && { ...plan, standalone: texts?.['standalone'] ?? textOf(plan.standalone) },
    citations: citationsOf(body),
    conflicts: conflictsOf(body),
    usage: usageOf(body),
    audit_id: record.id,
  };
}
