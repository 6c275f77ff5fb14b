/** What an auditor looks for: as the page keeps it in its fragment, and as the server is asked. */

/** In the order in which they are shown. */
export const FIELDS = [
  'kind',
  'since',
  'until',
  'person',
  'session',
  'document',
  'model',
  'mode',
  'verdict',
  'conflict',
  'changed',
  'feedback',
] as const;
export type Field = (typeof FIELDS)[number];
/** An empty text asks for nothing. */
export type Filters = Readonly<Record<Field, string>>;

export const KINDS = [
  'turn',
  'feedback',
  'correction',
  'adoption',
  'view',
  'export',
  'replay',
  'hold',
  'erasure',
  'retention',
  'document',
  'identity',
];
export const VERDICTS = ['supported', 'partial', 'unsupported', 'contradicted'];
const YES_NO = ['true', 'false'];
/** What can be chosen; other fields take words. */
export const CHOICES: Partial<Record<Field, readonly string[]>> = {
  kind: KINDS,
  verdict: VERDICTS,
  conflict: YES_NO,
  changed: YES_NO,
  feedback: ['up', 'down'],
};
const DAYS: readonly Field[] = ['since', 'until'];
const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** In the fragment, for a field whose default is not empty. */
const ANY = 'any';
const LONGEST = 2000;

const EMPTY = Object.fromEntries(FIELDS.map((field) => [field, ''])) as Record<Field, string>;
/** Answers are what an auditor comes for; their own looks are records too and would soon be most of the list. */
export const DEFAULTS: Filters = { ...EMPTY, kind: 'turn' };

/** A value that the field can have, else nothing. */
function sound(field: Field, value: string): string {
  const text = value.trim().slice(0, LONGEST);
  const choices = CHOICES[field];
  if (choices) return choices.includes(text) ? text : '';
  return DAYS.includes(field) && !isDay(text) ? '' : text;
}

const isDay = (text: string): boolean => DAY.test(text) && !Number.isNaN(Date.parse(text));

/** The filters of an address's fragment, whatever stands in it. */
export function fromFragment(fragment: string): Filters {
  const given = new URLSearchParams(fragment.replace(/^#/, ''));
  return Object.fromEntries(
    FIELDS.map((field) => [field, given.has(field) ? sound(field, given.get(field)!) : DEFAULTS[field]]),
  ) as Record<Field, string>;
}

/** The fragment that gives these filters; empty for the defaults. */
export function toFragment(filters: Filters): string {
  const said = new URLSearchParams();
  for (const field of FIELDS) if (filters[field] !== DEFAULTS[field]) said.set(field, filters[field] || ANY);
  return String(said);
}

/** The query for the server. The last day is part of what is wanted, so the time ends with the next one. */
export function toQuery(filters: Filters): URLSearchParams {
  const query = new URLSearchParams();
  for (const field of FIELDS) {
    const value = field === 'until' ? dayAfter(filters.until) : filters[field];
    if (value) query.set(field, value);
  }
  return query;
}

/** The day after this one, empty where there is none. */
export function dayAfter(day: string): string {
  if (!isDay(day)) return '';
  const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
  return DAY.test(next) ? next : '';
}

/** The filters that a form holds. */
export function fromForm(form: HTMLFormElement): Filters {
  const data = new FormData(form);
  return Object.fromEntries(FIELDS.map((field) => [field, sound(field, String(data.get(field) ?? ''))])) as Record<
    Field,
    string
  >;
}

export const same = (a: Filters, b: Filters): boolean => FIELDS.every((field) => a[field] === b[field]);
