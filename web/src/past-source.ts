/** GET …/citations/{n}/source: a cited passage as it was, and beside it what stands there today. */

import { isState } from './fates';
import type { SourceState } from './protocol';
import type { DiffStep, Quoted } from './quoted';

/** The version that is read today; `quoted` is null when nothing in it is like the passage. */
export interface CurrentVersion {
  version: number;
  date: string | null;
  quoted: Quoted | null;
}

export interface PastSource {
  version: number;
  date: string | null;
  quoted: Quoted;
  state: SourceState;
  current: CurrentVersion | null;
  /** Leads from the whole old passage to the whole current one. */
  diff: DiffStep[] | null;
}

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Read a body. Throws TypeError when it holds no passage; a state that is not known here is `unknown`. */
export function pastSourceOf(value: unknown): PastSource {
  const fields = isObject(value) ? value : {};
  const quoted = quotedOf(fields);
  if (!quoted) throw new TypeError('no passage');
  const { state, current, diff } = fields;
  return {
    ...editionOf(fields),
    quoted,
    state: isState(state) ? state : 'unknown',
    current: isObject(current) ? { ...editionOf(current), quoted: quotedOf(current) } : null,
    diff: Array.isArray(diff) && diff.every(isStep) ? diff : null,
  };
}

function editionOf({ version, date }: Fields): { version: number; date: string | null } {
  return { version: Number.isSafeInteger(version) ? (version as number) : 0, date: typeof date === 'string' ? date : null };
}

function quotedOf({ before, exact, after }: Fields): Quoted | null {
  if (typeof before !== 'string' || typeof exact !== 'string' || typeof after !== 'string') return null;
  return { before, exact, after };
}

const isStep = (step: unknown): step is DiffStep =>
  isObject(step) && ['op', 'old', 'new'].every((name) => typeof step[name] === 'string');
