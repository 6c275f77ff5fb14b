/** What the server says of an answer that was given again, read with care. */

import type { UsageReported } from '../protocol';
import type { DiffStep } from '../quoted';
import { fieldsOf, listOf, numberOf, numberOrNull, textOf, textOrNull, usageOf, type Fields } from './records';

export const SIDES = ['old', 'new'] as const;
export type Side = (typeof SIDES)[number];

/** One of the two answers. */
export interface ReplaySide {
  text: string;
  model: string;
  prompt: string;
  mode: string;
  status: string;
  finish: string;
  agreement: number | null;
  /** How many sentences nothing carries. */
  unsupported: number;
  usage: UsageReported | null;
}

export interface CitedPassage {
  title: string;
  exact: string;
  verdict: string;
}

/** A passage that both cite, with another verdict. */
export type Rejudged = Omit<CitedPassage, 'verdict'> & Record<Side, string>;

/** What each did with a conflict of the evidence; null where it was not shown. */
export type Refollowed = { topic: string } & Record<Side, string | null>;

/** A model call of then that was not made again. */
export interface LeftOut {
  purpose: string;
  model: string;
  tokensIn: number;
  tokensOut: number;
  cost: number | null;
}

export interface Replay extends Record<Side, ReplaySide> {
  /** Whether both say the same with the same citations; model and cost may differ. */
  same: boolean;
  /** Leads from the old text to the new one. */
  diff: DiffStep[];
  /** How many passages both cite. */
  kept: number;
  added: CitedPassage[];
  lost: CitedPassage[];
  rejudged: Rejudged[];
  conflicts: Refollowed[];
  leftOut: LeftOut[];
  /** Images of then that could not be shown again. */
  lostImages: number;
}

export function replayOf(body: unknown): Replay {
  const d = fieldsOf(body);
  const citations = fieldsOf(d['citations']);
  return {
    same: d['same'] === true,
    old: sideOf(d, 'old'),
    new: sideOf(d, 'new'),
    diff: each(d['text'], ({ op, old, new: now }) => ({ op: textOf(op), old: textOf(old), new: textOf(now) })),
    kept: numberOf(citations['kept']),
    added: each(citations['added'], passageOf),
    lost: each(citations['lost'], passageOf),
    rejudged: each(citations['rejudged'], rejudgedOf),
    conflicts: each(d['conflicts'], refollowedOf),
    leftOut: each(d['left_out'], leftOutOf),
    lostImages: numberOf(d['lost_images']),
  };
}

const each = <T>(value: unknown, read: (d: Fields) => T): T[] => listOf(value).map((one) => read(fieldsOf(one)));

function sideOf(d: Fields, side: Side): ReplaySide {
  const of = (name: string): unknown => fieldsOf(d[name])[side];
  const usage = Object.entries(fieldsOf(d['usage'])).map(([name, both]) => [name, fieldsOf(both)[side]] as const);
  return {
    text: textOf(d[side]),
    model: textOf(of('model')),
    prompt: textOf(of('prompt')),
    mode: textOf(of('mode')),
    status: textOf(of('status')),
    finish: textOf(of('finish')),
    agreement: numberOrNull(of('agreement')),
    unsupported: numberOf(of('unsupported')),
    usage: usageOf({ usage: Object.fromEntries(usage) }),
  };
}

const passageOf = (d: Fields): CitedPassage => ({
  title: textOf(d['title']),
  exact: textOf(d['exact']),
  verdict: textOf(d['verdict']),
});

function rejudgedOf(d: Fields): Rejudged {
  const verdict = fieldsOf(d['verdict']);
  return { title: textOf(d['title']), exact: textOf(d['exact']), old: textOf(verdict['old']), new: textOf(verdict['new']) };
}

function refollowedOf(d: Fields): Refollowed {
  const followed = fieldsOf(d['followed']);
  return { topic: textOf(d['topic']), old: textOrNull(followed['old']), new: textOrNull(followed['new']) };
}

const leftOutOf = (d: Fields): LeftOut => ({
  purpose: textOf(d['purpose']),
  model: textOf(d['model']),
  tokensIn: numberOf(d['tokens_in']),
  tokensOut: numberOf(d['tokens_out']),
  cost: numberOrNull(d['cost']),
});
