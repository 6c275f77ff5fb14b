import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { chartsOf, daysBetween, figuresOf, rowsOf, type Chart } from '../src/audit/figures';
import { optionsOf, roof } from '../src/audit/plotting';

const body = (days: object[]): object => ({ since: '2024-02-27T09:00:00.000Z', until: '2024-03-02T00:00:00.000Z', days });
const chart = (name: string, days: object[]): Chart | undefined =>
  chartsOf(figuresOf(body(days))).charts.find((one) => one.name === name);

describe('figures', () => {
  it('have a value for every day, also where nothing was asked', () => {
    const found = chartsOf(figuresOf(body([{ day: '2024-02-29', answers: 3 }])));
    expect(found.days).toEqual(['2024-02-27', '2024-02-28', '2024-02-29', '2024-03-01']);
    expect(found.charts).toEqual([{ name: 'answers', series: [{ name: 'answers', values: [0, 0, 3, 0] }] }]);
  });

  it('draw verdicts from good to bad, and only lines that something has', () => {
    const days = [
      { day: '2024-02-27', verdicts: { contradicted: 1, supported: 2 } },
      { day: '2024-02-28', verdicts: { partial: 0, supported: 1 } },
    ];
    expect(chart('verdicts', days)?.series).toEqual([
      { name: 'supported', values: [2, 1, 0, 0] },
      { name: 'contradicted', values: [1, 0, 0, 0] },
    ]);
    expect(chart('conflicts', days)).toBeUndefined();
  });

  it('give a line to the modes with most answers', () => {
    const modes = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`m${i}`, i + 1]));
    expect(chart('modes', [{ day: '2024-02-27', modes }])?.series.map(({ name }) => name)).toEqual([
      'm8', 'm7', 'm6', 'm5', 'm4', 'm3',
    ]);
  });

  it('sum what is known of the cost', () => {
    const found = chartsOf(
      figuresOf(body([{ day: '2024-02-27', answers: 2, priced: 1, cost: 0.25 }, { day: '2024-02-28', answers: 1, cost: null }])),
    );
    expect([found.answers, found.priced]).toEqual([3, 1]);
    expect(found.charts.find(({ name }) => name === 'cost')?.series[0]?.values).toEqual([0.25, 0, 0, 0]);
  });

  it('are a table of the days on which something happened', () => {
    const found = chart('feedback', [{ day: '2024-02-28', up: 1 }, { day: '2024-03-01', up: 1, down: 2 }])!;
    expect(rowsOf(['2024-02-27', '2024-02-28', '2024-02-29', '2024-03-01'], found)).toEqual([
      { day: '2024-02-28', values: [1, 0] },
      { day: '2024-03-01', values: [1, 2] },
    ]);
  });

  it('are read from whatever comes, and never count for ever', () => {
    fc.assert(fc.property(fc.anything(), (value) => void chartsOf(figuresOf(value))));
    expect(daysBetween('0001-01-01', '9999-01-01')).toHaveLength(401);
    expect(daysBetween('2024-01-02', '2024-01-01T00:00:00Z')).toEqual([]);
    expect(daysBetween('x', 'y')).toEqual([]);
  });
});

describe('a chart', () => {
  const ink = { lines: ['red'], axis: 'grey', grid: 'silver', font: '12px sans' };

  it('tells its lines apart by dashes too, and names days in words', () => {
    const series = [
      { name: 'up', values: [1] },
      { name: 'down', values: [2] },
    ];
    const options = optionsOf({ name: 'feedback', series }, ['2024-02-27'], ink, 300, (day) => `d ${day}`, () => undefined);
    expect(options.series.slice(1).map(({ dash, stroke }) => [dash, stroke])).toEqual([
      [[], 'red'],
      [[8, 4], 'grey'],
    ]);
    const values = options.axes![0]!.values as unknown as (plot: null, splits: number[]) => string[];
    expect(values(null, [0, 0.5, 1])).toEqual(['d 2024-02-27', '', '']);
  });

  it('has room above the highest value', () => {
    expect([roof(null), roof(0), roof(-1), roof(10)]).toEqual([1, 1, 1, 11]);
  });
});
