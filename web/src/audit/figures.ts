/** What answers came to over time: as the server counts it, and as the lines and tables that are drawn. */

import { dayAfter, VERDICTS } from './filters';
import { fieldsOf, listOf, numberOf, numberOrNull, textOf, type Fields } from './records';

export type Counts = Readonly<Record<string, number>>;

export interface DayFigures {
  /** A day of UTC such as 2024-05-01. */
  day: string;
  answers: number;
  refusals: number;
  conflicts: number;
  up: number;
  down: number;
  tokens_in: number;
  tokens_out: number;
  priced: number;
  cost: number | null;
  verdicts: Counts;
  modes: Counts;
}

export interface Figures {
  since: string;
  until: string;
  /** Days with answers, ascending. */
  days: DayFigures[];
}

export type ChartName = 'answers' | 'verdicts' | 'refusals' | 'conflicts' | 'modes' | 'feedback' | 'tokens' | 'cost';

export interface Series {
  /** A verdict, a mode, or a name of the words. */
  name: string;
  /** A value for each day of the chart. */
  values: number[];
}

export interface Chart {
  name: ChartName;
  series: Series[];
}

export interface Drawn {
  days: string[];
  charts: Chart[];
  answers: number;
  priced: number;
}

/** The server gives 400 days at most; nothing else may make the page count for hours. */
const MOST_DAYS = 401;
/** So many modes have a line of their own. */
const MOST_LINES = 6;

export function figuresOf(body: unknown): Figures {
  const d = fieldsOf(body);
  const days = listOf(d['days']).map((one) => dayOf(fieldsOf(one)));
  return { since: textOf(d['since']), until: textOf(d['until']), days: days.filter(({ day }) => dayAfter(day)) };
}

function dayOf(d: Fields): DayFigures {
  return {
    day: textOf(d['day']),
    answers: numberOf(d['answers']),
    refusals: numberOf(d['refusals']),
    conflicts: numberOf(d['conflicts']),
    up: numberOf(d['up']),
    down: numberOf(d['down']),
    tokens_in: numberOf(d['tokens_in']),
    tokens_out: numberOf(d['tokens_out']),
    priced: numberOf(d['priced']),
    cost: numberOrNull(d['cost']),
    verdicts: countsOf(d['verdicts']),
    modes: countsOf(d['modes']),
  };
}

const countsOf = (value: unknown): Counts =>
  Object.fromEntries(Object.entries(fieldsOf(value)).map(([name, count]) => [name, numberOf(count)]));

/** Every day from the first to the last, also those without answers. `until` itself is not included. */
export function daysBetween(since: string, until: string): string[] {
  const days: string[] = [];
  let day = since.slice(0, 10);
  // A time that ends at midnight ends with the day before.
  const last = new Date(Date.parse(until) - 1);
  const end = Number.isNaN(last.getTime()) ? '' : last.toISOString().slice(0, 10);
  while (dayAfter(day) && day <= end && days.length < MOST_DAYS) {
    days.push(day);
    day = dayAfter(day);
  }
  return days;
}

/** The charts of some figures. Lines that nothing has are left out, and so are charts without lines. */
export function chartsOf({ since, until, days: given }: Figures): Drawn {
  const found = new Map(given.map((one) => [one.day, one]));
  const days = daysBetween(since, until);
  const line = (name: string, value: (day: DayFigures) => number): Series => ({
    name,
    values: days.map((day) => (found.has(day) ? value(found.get(day)!) : 0)),
  });
  const sum = (value: (day: DayFigures) => number): number => given.reduce((all, day) => all + value(day), 0);
  const verdicts = VERDICTS.map((name) => line(name, (day) => day.verdicts[name] ?? 0));
  const charts: Chart[] = [
    { name: 'answers', series: [line('answers', (day) => day.answers)] },
    { name: 'verdicts', series: verdicts },
    { name: 'refusals', series: [line('refusals', (day) => day.refusals)] },
    { name: 'conflicts', series: [line('conflicts', (day) => day.conflicts)] },
    { name: 'modes', series: modesOf(given).map((name) => line(name, (day) => day.modes[name] ?? 0)) },
    { name: 'feedback', series: [line('up', (day) => day.up), line('down', (day) => day.down)] },
    { name: 'tokens', series: [line('tokens_in', (day) => day.tokens_in), line('tokens_out', (day) => day.tokens_out)] },
    { name: 'cost', series: [line('cost', (day) => day.cost ?? 0)] },
  ];
  const shown = charts.map((chart) => ({ ...chart, series: chart.series.filter(({ values }) => values.some(Boolean)) }));
  return {
    days,
    charts: shown.filter(({ series }) => series.length),
    answers: sum((day) => day.answers),
    priced: sum((day) => day.priced),
  };
}

/** The modes that made most of the answers. */
function modesOf(days: readonly DayFigures[]): string[] {
  const totals = new Map<string, number>();
  for (const { modes } of days)
    for (const [name, count] of Object.entries(modes)) totals.set(name, (totals.get(name) ?? 0) + count);
  return [...totals].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, MOST_LINES).map(([name]) => name);
}

/** The rows of the table that says the same: days on which something happened. */
export const rowsOf = (days: readonly string[], { series }: Chart): { day: string; values: number[] }[] =>
  days
    .map((day, i) => ({ day, values: series.map(({ values }) => values[i] ?? 0) }))
    .filter(({ values }) => values.some(Boolean));
