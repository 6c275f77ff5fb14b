/** Intermediate work of an answer: what a `turn.progress` says about a step, and what is said aloud of it. */

import type { TurnProgress } from './protocol';

export interface Step {
  stage: string;
  /** `done` of `total` steps are finished; null where nothing was counted. */
  done: number | null;
  total: number | null;
  /** What the step wrote, null when it wrote nothing. */
  text: string | null;
  /** The code of the error that ended it. */
  failed: string | null;
}

const counted = (value: unknown): number | null => (Number.isFinite(value) ? (value as number) : null);
const written = (value: unknown): string | null => (typeof value === 'string' && value ? value : null);

/** The step that a progress tells of; null when it only names a stage. Fields of another form are read as absent. */
export function stepOf(d: TurnProgress): Step | null {
  const [done, total] = [counted(d.done), counted(d.total)];
  const whole = done !== null && total !== null;
  const text = written(d.text);
  const failed = written(d.failed);
  if (!whole && text === null && failed === null) return null;
  return { stage: String(d.stage), done: whole ? done : null, total: whole ? total : null, text, failed };
}

/**
 * The count to say aloud: of many steps only each quarter, as a person who listens cannot skip the rest. Null before
 * the first quarter and where nothing is counted.
 */
export function spokenCount({ done, total }: Pick<TurnProgress, 'done' | 'total'>): number | null {
  if (typeof done !== 'number' || typeof total !== 'number' || total <= 0) return null;
  if (total <= 4) return done;
  return Math.floor((Math.floor((done / total) * 4) / 4) * total) || null;
}
