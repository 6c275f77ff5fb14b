/** Transcripts recorded by the server (tests/transcripts/*.jsonl, one server frame a line). */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { decode, type DurableFrame, type Frame, type Snapshot } from '../src/protocol';

const FOLDER = resolve(import.meta.dirname, '../../tests/transcripts');

export const recorded: readonly string[] = existsSync(FOLDER)
  ? readdirSync(FOLDER).filter((name) => name.endsWith('.jsonl'))
  : [];

/** A line holds a frame, or an object with one under `frame`; frames of the client are passed by. */
export function framesOf(name: string): Frame[] {
  const lines = readFileSync(resolve(FOLDER, name), 'utf8')
    .split('\n')
    .filter((line) => line.trim());
  return lines.flatMap((line) => {
    const value = JSON.parse(line) as { frame?: unknown };
    const frame = decode(JSON.stringify(value.frame ?? value));
    return frame ? [frame] : [];
  });
}

/** The snapshot that the server makes of the frames. */
export const snapshotOf = (name: string): Snapshot =>
  JSON.parse(readFileSync(resolve(FOLDER, name.replace(/jsonl$/, 'snapshot.json')), 'utf8')) as Snapshot;

export const durable = (all: readonly Frame[]): DurableFrame[] =>
  all.filter((frame): frame is DurableFrame => typeof frame.seq === 'number');
