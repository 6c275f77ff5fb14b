/** What became of the made-up documents since they were cited; a question with "change" hears of it live. */

import { DOCUMENTS } from './scenes.mjs';

const LATER = {
  handbook: {
    state: 'changed',
    current: {
      version: 3,
      date: '2025-02-01',
      before: 'Time off matters. ',
      exact: 'Every full-time employee has 25 days of annual leave.',
      after: ' Talk to your manager and your team before you book.',
    },
    diff: [
      ['equal', 'Time off matters. Every full-time employee has ', 'Time off matters. Every full-time employee has '],
      ['replace', '22', '25'],
      ['equal', ' days of annual leave. Talk to your manager ', ' days of annual leave. Talk to your manager '],
      ['insert', '', 'and your team '],
      ['equal', 'before you book.', 'before you book.'],
    ].map(([op, old, now]) => ({ op, old, new: now })),
  },
  carry: { state: 'deleted' },
};

/** The body of …/citations/{n}/source for a document. */
export const sourceOf = (id) => ({ page: null, current: null, diff: null, ...DOCUMENTS[id], ...LATER[id] });

/** The body of …/sources for the log of a conversation. */
export const statesIn = (log) => ({
  sources: citedIn(log).map(({ turn, item }) => ({ turn, n: item.n, state: sourceOf(item.evidence).state })),
});

/** The events that tell what became of the sources of a turn. */
export const changesOf = (log, turn) =>
  citedIn(log.filter((frame) => frame.turn === turn))
    .map(({ item }) => [item.n, { changed: 'updated', deleted: 'deleted' }[sourceOf(item.evidence).state]])
    .filter(([, change]) => change)
    .map(([n, change]) => ({ turn, n, change }));

const citedIn = (log) =>
  log.filter(({ type }) => type === 'citations').flatMap(({ turn, d }) => d.items.map((item) => ({ turn, item })));
