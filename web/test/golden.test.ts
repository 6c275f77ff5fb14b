/** Transcripts recorded by the server (tests/transcripts/*.jsonl, one server frame a line) through the reducer. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

import { decode, type DurableFrame, type Frame } from '../src/protocol';
import { EMPTY, reduce } from '../src/reducer';
import { digest } from './transcript';

const FOLDER = resolve(import.meta.dirname, '../../tests/transcripts');
const names = existsSync(FOLDER) ? readdirSync(FOLDER).filter((name) => name.endsWith('.jsonl')) : [];

/** A line holds a frame, or an object with one under `frame`; frames of the client are passed by. */
function frames(name: string): Frame[] {
  const lines = readFileSync(resolve(FOLDER, name), 'utf8')
    .split('\n')
    .filter((line) => line.trim());
  return lines.flatMap((line) => {
    const value = JSON.parse(line) as { frame?: unknown };
    const frame = decode(JSON.stringify(value.frame ?? value));
    return frame ? [frame] : [];
  });
}

const durable = (all: Frame[]): DurableFrame[] => all.filter((f): f is DurableFrame => typeof f.seq === 'number');

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
});
