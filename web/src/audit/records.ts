/** What the audit doors of the server give, read with care: a log can hold what somebody changed. */

import { pastSourceOf, type PastSource } from '../past-source';
import type { Citation, CitationsAdded, ConflictsFound, SentenceVerdict, TurnPlanned, UsageReported } from '../protocol';

export type Fields = Readonly<Record<string, unknown>>;

/** A record in short. */
export interface RecordItem {
  seq: number;
  id: string;
  at: string;
  kind: string;
  actor: string;
  subject: string | null;
  conversation: string | null;
  turn: string | null;
  hash: string;
  model: string | null;
  mode: string | null;
  status: string | null;
  finish: string | null;
  rating: string | null;
  verdict: string | null;
  hasConflict: boolean;
  sourceChanged: boolean;
}

export interface Page {
  records: RecordItem[];
  /** Where the next page begins, null at the end. */
  next: number | null;
}

export interface AuditRecord {
  seq: number;
  id: string;
  at: string;
  kind: string;
  actor: string;
  subject: string | null;
  conversation: string | null;
  turn: string | null;
  body: Fields;
  sealedSha256: string | null;
  previous: string;
  hash: string;
}

export interface ShownEvidence {
  id: string;
  title: string;
  section: string;
  uri: string;
  document: string;
  version: number;
  sha256: string;
  date: string | null;
  page: number | null;
  start: number;
  end: number;
  exact: string;
  score: number;
  flags: string[];
}

export interface Opened {
  record: AuditRecord;
  texts: Readonly<Record<string, string>> | null;
  erased: boolean;
  tampered: boolean;
  evidence: ShownEvidence[];
  sources: { n: number; past: PastSource }[];
  plan: TurnPlanned | null;
  /** The answer as JSON, for those who want to see all of it. */
  raw: unknown;
}

export interface Verified {
  ok: boolean;
  checked: number;
  covered: number;
  unsigned: number;
  /** The first record that does not fit; with `until` the first and last of those of which one does not. */
  seq: number | null;
  until: number | null;
  reason: string | null;
  targets: number;
  external: number;
}

export const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
export const numberOf = (value: unknown): number => (Number.isFinite(value) ? (value as number) : 0);
export const numberOrNull = (value: unknown): number | null => (Number.isFinite(value) ? (value as number) : null);

export function pageOf(body: unknown): Page {
  const { records, next } = fieldsOf(body);
  return { records: listOf(records).map((one) => itemOf(fieldsOf(one))), next: numberOrNull(next) };
}

function itemOf(d: Fields): RecordItem {
  return {
    ...named(d),
    hash: textOf(d['hash']),
    model: textOrNull(d['model']),
    mode: textOrNull(d['mode']),
    status: textOrNull(d['status']),
    finish: textOrNull(d['finish']),
    rating: textOrNull(d['rating']),
    verdict: textOrNull(d['verdict']),
    hasConflict: d['has_conflict'] === true,
    sourceChanged: d['source_changed'] === true,
  };
}

type Named = Pick<RecordItem, 'seq' | 'id' | 'at' | 'kind' | 'actor' | 'subject' | 'conversation' | 'turn'>;

const named = (d: Fields): Named => ({
  seq: numberOf(d['seq']),
  id: textOf(d['id']),
  at: textOf(d['at']),
  kind: textOf(d['kind']),
  actor: textOf(d['actor']),
  subject: textOrNull(d['subject']),
  conversation: textOrNull(d['conversation']),
  turn: textOrNull(d['turn']),
});

/** An opened record. Throws TypeError when it holds none. */
export function openedOf(body: unknown): Opened {
  const d = fieldsOf(body);
  const record = fieldsOf(d['record']);
  if (!textOf(record['id'])) throw new TypeError('no record');
  return {
    record: {
      ...named(record),
      body: fieldsOf(record['body']),
      sealedSha256: textOrNull(record['sealed_sha256']),
      previous: textOf(record['previous']),
      hash: textOf(record['hash']),
    },
    texts: textsOf(d['texts']),
    erased: d['erased'] === true,
    tampered: d['tampered'] === true,
    evidence: listOf(d['evidence']).map((one) => evidenceOf(fieldsOf(one))),
    sources: listOf(d['sources']).flatMap(sourceOf),
    plan: planOf(d['plan']),
    raw: body,
  };
}

function textsOf(value: unknown): Readonly<Record<string, string>> | null {
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

const evidenceOf = (d: Fields): ShownEvidence => ({
  id: textOf(d['id']),
  title: textOf(d['title']),
  section: textOf(d['section']),
  uri: textOf(d['uri']),
  document: textOf(d['document']),
  version: numberOf(d['version']),
  sha256: textOf(d['sha256']),
  date: textOrNull(d['date']),
  page: numberOrNull(d['page']),
  start: numberOf(d['start']),
  end: numberOf(d['end']),
  exact: textOf(d['exact']),
  score: numberOf(d['score']),
  flags: listOf(d['flags']).filter((flag) => typeof flag === 'string'),
});

function sourceOf(value: unknown): { n: number; past: PastSource }[] {
  const n = fieldsOf(value)['n'];
  try {
    return Number.isSafeInteger(n) ? [{ n: n as number, past: pastSourceOf(value) }] : [];
  } catch {
    return [];
  }
}

/** A plan that can be drawn, else null. */
function planOf(value: unknown): TurnPlanned | null {
  const plan = fieldsOf(value);
  const budget = fieldsOf(plan['budget']);
  const whole = typeof plan['mode'] === 'string' && Number.isFinite(budget['window']) && Array.isArray(budget['dropped']);
  return whole && Array.isArray(plan['evidence']) ? (value as TurnPlanned) : null;
}

const AUTHORITIES: readonly unknown[] = ['high', 'medium', 'low'];
const VERDICTS: readonly unknown[] = ['supported', 'partial', 'unsupported', 'contradicted'];

/** The citations that the body of a record holds; those that cannot be drawn are passed by. */
export function citationsOf(body: Fields): CitationsAdded | null {
  const d = fieldsOf(body['citations']);
  const items = listOf(d['items']).filter(isCitation);
  const unsupported = listOf(d['unsupported']).filter(isSpan);
  if (!items.length && !unsupported.length) return null;
  const status = d['status'] === 'complete' || d['status'] === 'partial' ? d['status'] : 'none';
  return { status, items, unsupported, agreement: numberOrNull(d['agreement']) };
}

function isSpan(value: unknown): value is SentenceVerdict {
  const { start, end, verdict } = fieldsOf(value);
  return Number.isSafeInteger(start) && Number.isSafeInteger(end) && VERDICTS.includes(verdict);
}

function isCitation(value: unknown): value is Citation {
  const { n, source } = fieldsOf(value);
  const { exact, title, section } = fieldsOf(source);
  return isSpan(value) && Number.isSafeInteger(n) && [exact, title, section].every((text) => typeof text === 'string');
}

/** The conflicts that the body of a record holds. */
export function conflictsOf(body: Fields): ConflictsFound | null {
  const items = listOf(fieldsOf(body['conflicts'])['items']).filter((item) => {
    const sides = fieldsOf(item)['sides'];
    return Array.isArray(sides) && sides.every((side) => AUTHORITIES.includes(fieldsOf(side)['authority']));
  });
  return items.length ? ({ items } as ConflictsFound) : null;
}

export function usageOf(body: Fields): UsageReported | null {
  const d = fieldsOf(body['usage']);
  if (!Number.isFinite(d['calls'])) return null;
  const counted = { calls: numberOf(d['calls']), tokens_in: numberOf(d['tokens_in']), tokens_out: numberOf(d['tokens_out']) };
  return {
    ...counted,
    tokens_cached: numberOf(d['tokens_cached']),
    cost: numberOrNull(d['cost']),
    ms_first_token: numberOrNull(d['ms_first_token']),
    ms_answer: numberOrNull(d['ms_answer']),
    ms_citations: numberOrNull(d['ms_citations']),
  };
}

export function verifiedOf(body: unknown): Verified {
  const d = fieldsOf(body);
  const [checked, covered] = [numberOf(d['checked']), numberOf(d['covered'])];
  return {
    ok: d['ok'] === true,
    checked,
    covered,
    unsigned: numberOrNull(d['unsigned']) ?? Math.max(0, checked - covered),
    seq: numberOrNull(d['seq']),
    until: numberOrNull(d['until']),
    reason: textOrNull(d['reason']),
    targets: numberOf(d['targets']),
    external: numberOf(d['external']),
  };
}

/** A correction that became the answer of record to its question. */
export interface Adopted {
  question: string;
}

export const adoptedOf = (body: unknown): Adopted => ({ question: textOf(fieldsOf(body)['question']) });

/** What a person said about an answer, opened. */
export interface Remark {
  item: RecordItem;
  opened: Opened | null;
}

export const isRemark = ({ kind }: RecordItem): boolean => kind === 'feedback' || kind === 'correction';
