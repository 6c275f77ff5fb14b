import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { decode, type DurableFrame, type Frame, type TurnMessage, type TurnProgress } from '../src/protocol';
import { codePoints, EMPTY, forget, informed, reduce, restore, send, type ChatState } from '../src/reducer';
import { sha256 } from '../src/sha256';
import { spokenCount, stepOf } from '../src/steps';
import { digest, frame, numbered, ready, SID, turnEvents } from './transcript';

const play = (frames: readonly Frame[], state: ChatState = EMPTY): ChatState => frames.reduce(reduce, state);

const unicode = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });

const steps = fc.array(
  fc.record({
    stage: fc.constantFrom('read', 'search', 'select'),
    done: fc.option(fc.nat(9)),
    total: fc.option(fc.nat(9)),
    text: fc.option(unicode),
    failed: fc.option(fc.constantFrom('model_unavailable', 'context_overflow')),
  }),
  { maxLength: 4 },
);

/** Transcripts of one to three turns, the later ones mixed into each other as two tabs would. */
const transcripts = fc
  .array(fc.record({ question: unicode, chunks: fc.array(unicode, { maxLength: 8 }), steps }), {
    minLength: 1,
    maxLength: 3,
  })
  .chain((turns) => {
    const each = turns.map((turn, i) => turnEvents(`t${i}`, turn.question, turn.chunks, 'completed', turn.steps));
    const order = each.flatMap((events, i) => events.map(() => i));
    return fc.shuffledSubarray(order, { minLength: order.length }).map((mixed) => {
      const queues = each.map((events) => [...events]);
      return numbered(mixed.map((i) => queues[i]!.shift()!));
    });
  });

describe('code points', () => {
  it('counts as Array.from does', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(codePoints(text)).toBe([...text].length);
      }),
    );
  });
});

describe('sha256', () => {
  it('agrees with the platform on any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
        expect(sha256(text)).toBe(digest(text));
      }),
    );
  });

  it('crosses the block boundaries', () => {
    for (let n = 50; n < 70; n++) expect(sha256('a'.repeat(n))).toBe(digest('a'.repeat(n)));
  });
});

describe('a transcript', () => {
  it('ends in the text that was sent, for each turn, in their order of acceptance', () => {
    fc.assert(
      fc.property(transcripts, (frames) => {
        const state = play(frames);
        const done = frames.filter((f) => f.type === 'answer.done');
        expect(state.need).toBeNull();
        expect(state.seq).toBe(frames.length);
        expect(state.turns.every((turn) => turn.status === 'completed')).toBe(true);
        for (const f of done) {
          const turn = state.turns.find((t) => t.turn === f.turn)!;
          expect(sha256(turn.text)).toBe((f.d as { sha256: string }).sha256);
          expect(turn.length).toBe([...turn.text].length);
        }
        const accepted = frames.filter((f) => f.type === 'turn.accepted').map((f) => f.turn);
        expect(state.turns.map((turn) => turn.turn)).toEqual(accepted);
      }),
    );
  });

  it('gives the same state however often frames come again', () => {
    fc.assert(
      fc.property(transcripts, fc.infiniteStream(fc.nat()), (frames, picks) => {
        const noisy: Frame[] = [];
        for (const [i, f] of frames.entries()) {
          noisy.push(f);
          const again = picks.next().value % 3;
          for (let k = 0; k < again; k++) noisy.push(frames[picks.next().value % (i + 1)]!);
        }
        expect(play(noisy)).toEqual(play(frames));
      }),
    );
  });

  it('gives the same state when the line is cut anywhere, frames are lost, and it resumes after the last number', () => {
    fc.assert(
      fc.property(
        transcripts,
        fc.array(fc.record({ upTo: fc.nat(40), lost: fc.nat(4) }), { maxLength: 6 }),
        (frames, cuts) => {
          const end = play(frames);
          let state = play([ready()]);
          for (const { upTo, lost } of cuts) {
            state = play(frames.slice(state.seq, state.seq + upTo), state);
            // Frames on their way are lost, a later one still arrives on the old line: a hole, not a jump.
            state = play(frames.slice(state.seq + lost + 1), state);
            if (state.seq + lost + 1 < frames.length) expect(state.need).toBe('resume');
            state = play([ready({ head_seq: frames.length })], state);
          }
          state = play([...frames.slice(state.seq), frame('replay.done', { head_seq: frames.length })], state);
          expect(state.turns).toEqual(end.turns);
          expect(state.seq).toBe(end.seq);
          expect(state.need).toBeNull();
        },
      ),
    );
  });

  it('gives the same turns from a snapshot at any point and the frames after it', () => {
    fc.assert(
      fc.property(transcripts, fc.nat(), (frames, pick) => {
        const cut = pick % (frames.length + 1);
        const before = play(frames.slice(0, cut));
        const turns = before.turns.map(({ turn, length: _l, progress: _p, steps: _s, changes: _c, ...message }) => ({
          turn,
          message: message as TurnMessage,
        }));
        const whole = { session_id: SID, epoch: 'e2', as_of_seq: cut, turns };
        const copy = JSON.parse(JSON.stringify(whole)) as typeof whole;
        const state = play(frames.slice(Math.max(0, cut - 3)), restore(EMPTY, copy));
        const end = play(frames);
        expect(state.turns.map(({ progress: _p, steps: _s, ...turn }) => turn)).toEqual(
          end.turns.map(({ progress: _p, steps: _s, ...turn }) => turn),
        );
      }),
    );
  });
});

describe('steps', () => {
  const failed = { stage: 'read', done: 2, total: 3, text: null, failed: 'model_unavailable' };
  const drafted = { stage: 'read', done: 1, total: 3, text: '<img src=x onerror=alert(1)> 👩‍🚀 مرحبا', failed: null };
  const frames = numbered(turnEvents('t1', 'q', ['a'], 'completed', [drafted, failed]));

  it('are kept in their order, a stage alone is none, and they stay when the answer is finished', () => {
    expect(play(frames).turns[0]!.steps).toEqual([drafted, failed]);
    expect(play(frames.slice(0, 3)).turns[0]!.progress).toEqual(drafted);
    expect(play(frames).turns[0]!.progress).toBeNull();
  });

  it('that were seen stay when the snapshot comes, which does not tell them', () => {
    const before = play(frames.slice(0, 4));
    const { steps: _s, progress: _p, changes: _c, length: _l, ...message } = play(frames).turns[0]!;
    const snapshot = { session_id: SID, epoch: 'e2', as_of_seq: frames.length, turns: [{ turn: 't1', message }] };
    expect(restore(before, snapshot).turns[0]!.steps).toEqual([drafted, failed]);
    expect(restore(EMPTY, snapshot).turns[0]!.steps).toEqual([]);
  });

  it('are read from any form: fields of another type are absent, unknown ones are passed by', () => {
    const odd = (d: object): unknown => stepOf(d as TurnProgress);
    expect(odd({ stage: 'search', done: null, total: null })).toBeNull();
    expect(odd({ stage: 'search' })).toBeNull();
    expect(odd({ stage: 'read', done: '1', total: 3, text: 7, failed: {} })).toBeNull();
    expect(odd({ stage: 'read', done: 1, total: 3, sparkle: 1 })).toEqual({ ...drafted, text: null });
    expect(odd({ stage: 'read', done: 1, total: NaN, text: 't' })).toEqual({ ...drafted, done: null, total: null, text: 't' });
    const long = 'x'.repeat(100_000);
    expect(odd({ stage: 'read', text: long })).toMatchObject({ text: long });
  });

  it('are said aloud by quarters, or each where there are few', () => {
    const said = (total: number): (number | null)[] =>
      Array.from({ length: total }, (_, i) => spokenCount({ done: i + 1, total }));
    expect(said(3)).toEqual([1, 2, 3]);
    expect(new Set(said(40))).toEqual(new Set([null, 10, 20, 30, 40]));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), (total) => {
        const counts = said(total);
        expect(counts.at(-1)).toBe(total);
        expect(new Set(counts).size).toBeLessThanOrEqual(5);
        for (const [i, count] of counts.entries()) expect(count ?? 0).toBeLessThanOrEqual(i + 1);
      }),
    );
    expect(spokenCount({ done: 1, total: 0 })).toBeNull();
    expect(spokenCount({ done: null, total: null })).toBeNull();
  });
});

describe('what does not fit', () => {
  const frames = numbered(turnEvents('t1', 'q', ['Hé', '👩‍🚀 ok', '。']));
  const delta = frames.findIndex((f) => f.type === 'answer.delta');

  it('counts offsets in code points, not UTF-16 units', () => {
    expect(play(frames).turns[0]!.text).toBe('Hé👩‍🚀 ok。');
  });

  it('drops a delta at another offset and asks for the snapshot', () => {
    const wrong = { ...frames[delta + 1]!, d: { off: 3, text: 'x' } } as DurableFrame;
    const state = play([...frames.slice(0, delta + 1), wrong]);
    expect(state.turns[0]!.text).toBe('Hé');
    expect(state.need).toBe('reload');
  });

  it('asks for the snapshot when the hash differs, and keeps asking through a reconnect', () => {
    const spoilt = frames.map((f) => (f.type === 'answer.done' ? { ...f, d: { ...f.d, sha256: '0' } } : f)) as Frame[];
    const state = play(spoilt);
    expect(state.need).toBe('reload');
    expect(play([ready({ head_seq: 9 })], state).need).toBe('reload');
  });

  it('leaves a hole open instead of jumping it', () => {
    const state = play([...frames.slice(0, 2), ...frames.slice(3)]);
    expect(state.seq).toBe(2);
    expect(state.need).toBe('resume');
    expect(state.turns[0]!.text).toBe('');
  });

  it('passes unknown types by and still counts them', () => {
    const strange = frame('answer.sparkles', { any: 1 }, { seq: 1, turn: 't9' });
    const shifted = frames.map((f) => ({ ...f, seq: f.seq + 1 })) as Frame[];
    const state = play([strange, frame('weather.report', {}), ...shifted]);
    expect(state.turns.find((t) => t.turn === 't1')!.status).toBe('completed');
    expect(state.need).toBeNull();
  });

  it('ignores frames of another conversation', () => {
    const state = play(frames);
    expect(reduce(state, { ...frame('turn.accepted', {}), sid: 'other', seq: state.seq + 1 } as Frame)).toBe(state);
  });
});

describe('questions on their way', () => {
  const mine = { id: 'c-t1', text: 'q', mode: 'auto', collections: [], attachments: [], error: null };

  it('are replaced by the stored turn', () => {
    const state = play(numbered(turnEvents('t1', 'q', [])).slice(0, 1), send(EMPTY, mine));
    expect(state.pending).toEqual([]);
    expect(state.turns.map((t) => t.question)).toEqual(['q']);
  });

  it('of other tabs appear without having been asked here', () => {
    const state = play(numbered(turnEvents('t2', 'from elsewhere', [])).slice(0, 1), send(EMPTY, mine));
    expect(state.pending).toEqual([mine]);
    expect(state.turns[0]!.question).toBe('from elsewhere');
  });

  it('carry the refusal that names them', () => {
    const refused = frame('error', { code: 'busy', message_key: 'busy', retryable: true, ref_id: 'c-t1' });
    expect(play([refused], send(EMPTY, mine)).pending[0]!.error).toBe('busy');
    expect(play([refused], EMPTY)).toBe(EMPTY);
  });

  it('are dropped by a duplicate acknowledgement of a turn that is already here', () => {
    const state = send(
      restore(EMPTY, {
        session_id: SID,
        epoch: 'e',
        as_of_seq: 3,
        turns: [{ turn: 't1', message: play(numbered(turnEvents('t1', 'q', []))).turns[0]! }],
      }),
      mine,
    );
    expect(play([frame('ack', { id: 'c-t1', duplicate: true, turn: 't1' })], state).pending).toEqual([]);
    expect(forget(state, 'unknown')).toBe(state);
  });
});

describe('later changes of a source', () => {
  it('are kept with the turn, the last one per number', () => {
    const frames = numbered(turnEvents('t1', 'q', ['a']));
    const change = (change: string, seq: number): Frame =>
      frame('source.changed', { turn: 't1', n: 2, change }, { seq, turn: 't1' });
    const state = play([...frames, change('updated', frames.length + 1), change('deleted', frames.length + 2)]);
    expect(state.turns[0]!.changes).toEqual([{ turn: 't1', n: 2, change: 'deleted' }]);
    expect(state.told).toHaveLength(2);
  });

  const change = (n: number, seq: number): Frame =>
    frame('source.changed', { turn: 't1', n, change: 'updated' }, { seq, turn: 't1' });

  it('are the same from a snapshot that tells them as from their frames, and those of the snapshot are no news', () => {
    const frames = numbered(turnEvents('t1', 'q', ['a']));
    const end = play([...frames, change(1, frames.length + 1), change(3, frames.length + 2)]);
    const { turn, ...message } = end.turns[0]!;
    const whole = { session_id: SID, epoch: 'e2', as_of_seq: end.seq, turns: [{ turn, message }] };
    const restored = restore(end, JSON.parse(JSON.stringify(whole)) as typeof whole);
    expect(restored.turns[0]!.changes).toEqual(end.turns[0]!.changes);
    expect(restored.turns[0]!.states).toEqual(new Map());
    expect(restored.told).toEqual([]);
    for (const changes of [undefined, null, 'x'])
      expect(restore(EMPTY, { ...whole, turns: [{ turn, message: { ...message, changes: changes as never } }] }).turns[0]!.changes).toEqual([]);
  });

  it('make what was known of the source forgotten, and states that were asked for before them are dropped', () => {
    const frames = numbered(turnEvents('t1', 'q', ['a']));
    const before = play([...frames, change(1, frames.length + 1)]);
    const found = [1, 2].map((n) => ({ turn: 't1', n, state: 'same_text' as const }));
    const known = informed(before, before.told, [...found, { turn: 'other', n: 1, state: 'deleted' }]);
    expect([...known.turns[0]!.states]).toEqual([
      [1, 'same_text'],
      [2, 'same_text'],
    ]);
    const after = play([change(2, frames.length + 2)], known);
    expect([...after.turns[0]!.states.keys()]).toEqual([1]);
    expect(informed(after, before.told, found)).toBe(after);
    expect(informed(after, after.told, [])).toBe(after);
  });
});

describe('decode', () => {
  it('takes what was encoded and refuses everything else', () => {
    fc.assert(
      fc.property(transcripts, (frames) => {
        expect(frames.map((f) => decode(JSON.stringify(f)))).toEqual(frames);
      }),
    );
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(() => decode(text)).not.toThrow();
      }),
    );
    for (const bad of [
      '',
      '{',
      'null',
      '[]',
      '{"v":2,"type":"a","sid":"s","d":{}}',
      '{"v":1,"type":"a","sid":"s","d":1}',
      '{"v":1,"type":"a","sid":"s","seq":"1","d":{}}',
      7,
    ]) {
      expect(decode(bad)).toBeNull();
    }
  });

  it('survives durable frames whose lists are missing', () => {
    const events = [
      ['turn.plan', { standalone: 'q', mode: 'compact', reason: '', reason_code: '', budget: { window: 1 } }],
      ['citations', { status: 'none' }],
      ['conflicts', {}],
    ] as const;
    const state = play(events.map(([type, d], i) => frame(type, d, { seq: i + 1, turn: 't1' })));
    expect(state.turns[0]!.plan!.evidence).toEqual([]);
    expect(state.turns[0]!.citations!.items).toEqual([]);
    expect(state.turns[0]!.conflicts!.items).toEqual([]);
  });
});
