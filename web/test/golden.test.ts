/** Transcripts recorded by the server through the reducer. */

import { describe, expect, it } from 'vitest';

import { EMPTY, reduce, restore } from '../src/reducer';
import { durable, framesOf as frames, recorded as names, snapshotOf } from './recorded';
import { digest } from './transcript';

describe.skipIf(!names.length)('golden transcripts', () => {
  it.each(names)('%s: every answer has the hash that was sent', (name) => {
    const all = frames(name);
    const state = all.reduce(reduce, EMPTY);
    expect(durable(all).length).toBeGreaterThan(0);
    expect(state.need).toBeNull();
    for (const f of durable(all)) {
      if (f.type !== 'answer.done') continue;
      const turn = state.turns.find((t) => t.turn === f.turn)!;
      expect(digest(turn.text)).toBe(f.d.sha256);
      expect(turn.length).toBe(f.d.length);
    }
  });

  it.each(names)('%s: the same state after every cut with the last ten frames again', (name) => {
    const all = durable(frames(name));
    const end = all.reduce(reduce, EMPTY);
    for (let cut = 0; cut <= all.length; cut++) {
      const again = [...all.slice(0, cut), ...all.slice(Math.max(0, cut - 10))];
      expect(again.reduce(reduce, EMPTY)).toEqual(end);
    }
  });

  it.each(names)('%s: the turns are those of the snapshot that the server makes of the same events', (name) => {
    const all = frames(name);
    const told = all.reduce(reduce, EMPTY);
    const loaded = restore(EMPTY, snapshotOf(name));
    expect(told.seq).toBe(loaded.seq);
    expect(told.turns).toEqual(loaded.turns);
  });
});
