/** The cited places of an answer, each once, with what rests on them and what became of them. Pure. */

import type { PastSource } from '../past-source';
import { excerpt } from '../plain';
import type { Citation } from '../protocol';
import type { AnswerTurn } from './answer-turn';
import type { Opened } from './records';

export interface CitedPlace {
  /** The number of the place in the page, from 0. */
  at: number;
  citation: Citation;
  /** What rests on it, as it was written. */
  sentences: string[];
  /** As it was and as it is; null where nobody may see that today. */
  past: PastSource | null;
}

const keyOf = ({ n, source }: Citation): string => `${n}:${source.start}:${source.exact}`;

/** In the order of their numbers, then of the answer. */
export function citedPlaces(turn: AnswerTurn, { sources }: Pick<Opened, 'sources'>): CitedPlace[] {
  const groups = new Map<string, Citation[]>();
  for (const item of turn.citations?.items ?? []) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  const sorted = [...groups.values()].sort(([a], [b]) => a!.n - b!.n);
  return sorted.map((items, at) => {
    const citation = items[0]!;
    const { n, source } = citation;
    const own = sources.find((one) => one.n === n && one.past.quoted.exact === source.exact);
    return {
      at,
      citation,
      sentences: items.map((item) => excerpt(turn.text, item)),
      past: own?.past ?? sources.find((one) => one.n === n && holds(one.past, source.exact))?.past ?? null,
    };
  });
}

const holds = ({ quoted: { before, exact, after } }: PastSource, text: string): boolean =>
  (before + exact + after).includes(text);

export const placeOf = (places: readonly CitedPlace[], citation: Citation): CitedPlace | undefined =>
  places.find((place) => keyOf(place.citation) === keyOf(citation));
