/** How a chart is drawn: days by their number, so that no time zone shifts them, and whole numbers where things are counted. */

import type { Options } from 'uplot';

import type { Chart } from './figures';

export interface Ink {
  /** A colour for each line. */
  lines: readonly string[];
  axis: string;
  grid: string;
  font: string;
}

const HEIGHT = 180;
const STEPS = [1, 2, 7, 14, 28, 56, 84, 168];
const COUNTS = [1, 2, 5].flatMap((n) => Array.from({ length: 9 }, (_, power) => n * 10 ** power)).sort((a, b) => a - b);
/** Lines are told apart by their dashes too. */
export const DASHES = [[], [8, 4], [2, 3], [12, 4, 2, 4], [5, 5], [1, 5]];

export function optionsOf(
  { name, series }: Chart,
  days: readonly string[],
  ink: Ink,
  width: number,
  said: (day: string) => string,
  point: (day: number | null) => void,
): Options {
  const axis = { stroke: ink.axis, font: ink.font, grid: { stroke: ink.grid, width: 1 }, ticks: { stroke: ink.grid, width: 1 } };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false, points: { size: 7 } },
    scales: { x: { time: false, range: [-0.5, Math.max(0.5, days.length - 0.5)] }, y: { range: (_, __, max) => [0, roof(max)] } },
    axes: [
      { ...axis, incrs: STEPS, space: 90, values: (_, splits) => splits.map((at) => (days[at] ? said(days[at]) : '')) },
      { ...axis, size: 62, ...(name === 'cost' ? {} : { incrs: COUNTS }) },
    ],
    series: [
      {},
      ...series.map((_, i) => ({
        stroke: ink.lines[i] ?? ink.axis,
        width: 2,
        dash: DASHES[i % DASHES.length]!,
        points: { show: days.length < 60, size: 6, fill: ink.lines[i] ?? ink.axis },
      })),
    ],
    hooks: { setCursor: [(plot) => point(plot.cursor.idx ?? null)] },
  };
}

/** The upper end of a scale: a bit above the highest value, also where that is nothing. */
export const roof = (max: number | null): number => (max && max > 0 ? max * 1.1 : 1);
