/** What became of the sources of old answers: as the server lists it for a conversation, and as it tells it live. */

import type { SourceChanged, SourceState } from './protocol';

/** The state of citation `n` of a turn. */
export interface CitedState {
  turn: string;
  n: number;
  state: SourceState;
}

/** `updated`: there is a newer version, and whether it still says the same is not known yet. */
export type Fate = 'updated' | 'changed' | 'deleted' | 'not_available';

const STATES: readonly unknown[] = ['unchanged', 'same_text', 'changed', 'deleted', 'unknown', 'not_available'];
const TOLD: readonly unknown[] = ['changed', 'deleted', 'not_available'];

export const isState = (value: unknown): value is SourceState => STATES.includes(value);

const isFate = (state: SourceState): state is Exclude<Fate, 'updated'> => TOLD.includes(state);

/** The body of GET …/sources, whatever its form: entries that cannot be read are passed by. */
export function statesOf(value: unknown): CitedState[] {
  const sources = (value as { sources?: unknown } | null)?.sources;
  return Array.isArray(sources) ? sources.filter(isCitedState) : [];
}

function isCitedState(value: unknown): value is CitedState {
  if (typeof value !== 'object' || value === null) return false;
  const { turn, n, state } = value as Record<string, unknown>;
  return typeof turn === 'string' && Number.isSafeInteger(n) && isState(state);
}

/**
 * What a reader of this turn should know of its sources, by number. A known state counts more than what was told of a
 * change, as it says more (`same_text` is no news); the reducer drops it when a later change comes.
 */
export function fatesOf(turn: {
  changes: readonly SourceChanged[];
  states: ReadonlyMap<number, SourceState>;
}): Map<number, Fate> {
  const fates = new Map<number, Fate>();
  for (const { n, change } of turn.changes) if (!turn.states.has(n)) fates.set(n, fateOf(change));
  for (const [n, state] of turn.states) if (isFate(state)) fates.set(n, state);
  return fates;
}

/** A change as the fate it means. */
export function fateOf(change: SourceChanged['change']): Fate {
  if (change === 'access_revoked') return 'not_available';
  return change === 'deleted' ? 'deleted' : 'updated';
}

/** The numbers of each fate in their order; fates that nothing has are absent. */
export function byFate(fates: ReadonlyMap<number, Fate>): Map<Fate, number[]> {
  const groups = new Map<Fate, number[]>();
  for (const [n, fate] of [...fates].sort(([a], [b]) => a - b)) groups.set(fate, [...(groups.get(fate) ?? []), n]);
  return groups;
}
