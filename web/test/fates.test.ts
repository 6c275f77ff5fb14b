import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { Watching } from '../src/components/watching';
import { byFate, fatesOf, isState, statesOf, type CitedState } from '../src/fates';
import { words } from '../src/i18n';
import type { Frame, SourceChange, SourceState } from '../src/protocol';
import { EMPTY, informed, reduce, restore, type ChatState } from '../src/reducer';
import { cite } from './dom';
import { frame, numbered, SID, turnEvents } from './transcript';

const of = (changes: [number, SourceChange][], states: [number, SourceState][]): object =>
  Object.fromEntries(
    fatesOf({ changes: changes.map(([n, change]) => ({ turn: 't', n, change })), states: new Map(states) }),
  );

describe('what became of sources', () => {
  it('is what was told until the state is known, which then counts', () => {
    const told: [number, SourceChange][] = [
      [1, 'updated'],
      [2, 'deleted'],
      [3, 'access_revoked'],
    ];
    expect(of(told, [])).toEqual({ 1: 'updated', 2: 'deleted', 3: 'not_available' });
    expect(of(told, [[1, 'same_text'], [2, 'changed'], [4, 'deleted']])).toEqual({ 2: 'changed', 3: 'not_available', 4: 'deleted' });
    expect(of([], [[1, 'unchanged'], [2, 'unknown']])).toEqual({});
  });

  it('is grouped by kind with the numbers in order', () => {
    const fates = new Map([[3, 'changed'], [2, 'deleted'], [1, 'changed']] as const);
    expect([...byFate(fates)]).toEqual([['changed', [1, 3]], ['deleted', [2]]]);
  });

  it('is read from any body, passing by what has not the promised form', () => {
    const good = { turn: 't1', n: 2, state: 'deleted' };
    const bad = [{ ...good, n: '2' }, { ...good, state: 'toString' }, { ...good, turn: 1 }, null, 7];
    expect(statesOf({ sources: [...bad, good] })).toEqual([good]);
    fc.assert(
      fc.property(fc.anything(), (value) => {
        for (const body of [value, { sources: value }, { sources: [value] }])
          expect(statesOf(body).every(({ state }) => isState(state))).toBe(true);
      }),
    );
  });
});

const answered = (): Frame[] => {
  const frames = numbered(turnEvents('t1', 'How <b>long</b>?', ['a']));
  return frames.map((f) => (f.type === 'citations' ? { ...f, d: { ...f.d, items: [cite(1, { start: 0, end: 1 })] } } : f));
};
const LENGTH = answered().length;
const changed = (n: number, change: SourceChange): Frame =>
  frame('source.changed', { turn: 't1', n: 1, change }, { seq: LENGTH + n, turn: 't1' });

/** The state as a snapshot gives it when a conversation is opened. */
function opened(): ChatState {
  const { turn, ...message } = answered().reduce(reduce, EMPTY).turns[0]!;
  return restore(EMPTY, { session_id: SID, epoch: 'e1', as_of_seq: LENGTH, turns: [{ turn, message }] });
}

/** A conversation that is watched; each question to the server is answered when the test says so. */
function watched(): { watching: Watching; asked: string[]; answer: (found?: CitedState[]) => Promise<void>; state: ChatState } {
  const asked: string[] = [];
  const waiting: ((found: CitedState[] | Promise<never>) => void)[] = [];
  const world = {
    state: opened(),
    asked,
    watching: new Watching(
      (session) => {
        asked.push(session);
        return new Promise((give) => waiting.push(give));
      },
      (told, found) => {
        world.state = informed(world.state, told, found);
        world.watching.look(world.state);
      },
    ),
    answer: async (found?: CitedState[]): Promise<void> => {
      waiting.shift()!(found ?? Promise.reject(new Error('down')));
      for (let i = 0; i < 8; i++) await Promise.resolve();
    },
  };
  return world;
}

describe('watching sources', () => {
  const found: CitedState[] = [{ turn: 't1', n: 1, state: 'changed' }];

  it('asks once for a conversation that was opened, and not for one without sources or one just begun', async () => {
    const world = watched();
    for (let i = 0; i < 3; i++) world.watching.look(world.state);
    await world.answer(found);
    world.watching.look(world.state);
    expect(world.asked).toEqual([SID]);
    expect(fatesOf(world.state.turns[0]!).get(1)).toBe('changed');
    const fresh = watched();
    fresh.watching.look(answered().reduce(reduce, EMPTY));
    fresh.watching.look({ ...opened(), turns: [] });
    expect(fresh.asked).toEqual([]);
  });

  it('asks again when something changes, one question at a time, and never takes an answer from before a change', async () => {
    const world = watched();
    world.watching.look(world.state);
    for (let n = 1; n <= 50; n++) {
      world.state = reduce(world.state, changed(n, n % 2 ? 'updated' : 'deleted'));
      world.watching.look(world.state);
    }
    expect(world.asked).toHaveLength(1);
    await world.answer([{ turn: 't1', n: 1, state: 'unchanged' }]);
    expect(fatesOf(world.state.turns[0]!).get(1)).toBe('deleted');
    expect(world.asked).toHaveLength(2);
    await world.answer(found);
    expect(fatesOf(world.state.turns[0]!).get(1)).toBe('changed');
    expect(world.asked).toHaveLength(2);
  });

  it('goes on with what was told when the server does not answer, and with another conversation meanwhile', async () => {
    const world = watched();
    world.state = reduce(world.state, changed(1, 'deleted'));
    world.watching.look(world.state);
    await world.answer();
    expect(fatesOf(world.state.turns[0]!).get(1)).toBe('deleted');
    world.state = reduce(world.state, changed(2, 'updated'));
    world.watching.look(world.state);
    world.state = { ...opened(), sessionId: 's2' };
    world.watching.look(world.state);
    expect(world.asked).toEqual([SID, SID, 's2']);
    await world.answer([{ turn: 't1', n: 1, state: 'deleted' }]);
    expect(fatesOf(world.state.turns[0]!).size).toBe(0);
  });

  const told = (n: number, seq: number, change: SourceChange): Frame =>
    frame('source.changed', { turn: 't1', n, change }, { seq: LENGTH + seq, turn: 't1' });

  it.each(['en', 'zh'] as const)('tells a burst of changes once, together, when it is known what they are (%s)', async (locale) => {
    const world = watched();
    const w = words(locale);
    const news = (): string[] => world.watching.news(world.state, w);
    world.watching.look(world.state);
    await world.answer([]);
    expect(news()).toEqual([]);
    for (const one of [told(3, 1, 'updated'), told(1, 2, 'updated'), told(2, 3, 'deleted'), told(4, 4, 'updated')]) {
      world.state = reduce(world.state, one);
      world.watching.look(world.state);
      expect(news()).toEqual([]);
    }
    await world.answer([]);
    await world.answer([
      ...[1, 3].map((n) => ({ turn: 't1', n, state: 'changed' as const })),
      { turn: 't1', n: 2, state: 'deleted' },
      { turn: 't1', n: 4, state: 'same_text' },
    ]);
    const { changed: c, deleted: d, updated: u } = w.sourceFate;
    expect(news()).toEqual([w.inAnswer('How <b>long</b>?', `${c([1, 3])} ${d([2])} ${u([4])}`)]);
    expect(news()).toEqual([]);
  });

  it('tells what it heard when the server does not say more', async () => {
    const world = watched();
    world.state = [told(1, 1, 'updated'), told(2, 2, 'access_revoked')].reduce(reduce, world.state);
    world.watching.look(world.state);
    await world.answer();
    expect(world.watching.news(world.state, words('en'))[0]).toMatch(/newer version of source 1 .* no longer open source 2\./);
  });
});
