/** The source that is open beside the conversation, and what its answer tells about it. */

import { fatesOf, type Fate } from '../fates';
import { excerpt } from '../plain';
import type { Citation } from '../protocol';
import type { TurnState } from '../reducer';

export interface OpenSource {
  turn: string;
  citation: Citation;
}

/** The sentence that rests on it, and what became of it; nothing where the turn is not there. */
export function aboutSource(turns: readonly TurnState[], open: OpenSource | null): { sentence: string; fate: Fate | null } {
  const turn = open && turns.find((one) => one.turn === open.turn);
  if (!turn) return { sentence: '', fate: null };
  return { sentence: excerpt(turn.text, open.citation), fate: fatesOf(turn).get(open.citation.n) ?? null };
}
