import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { pastSourceOf } from '../src/past-source';
import { endOf, locate, near, piecesOf, startOf, wholeOf, type DiffStep, type Quoted } from '../src/quoted';

const PASSAGE = { before: 'One. Two. ', exact: 'Three. Four.', after: ' Five.' };

describe('the quoted passage', () => {
  it('is the quote of this sentence when it lies inside what was loaded', () => {
    expect(locate(PASSAGE, 'Four.')).toEqual({ before: 'One. Two. Three. ', exact: 'Four.', after: ' Five.' });
    expect(locate(PASSAGE, 'Two. Three.')).toEqual({ before: 'One. ', exact: 'Two. Three.', after: ' Four. Five.' });
  });

  it('is the loaded passage when the quote is not there or empty', () => {
    for (const exact of ['Six.', '']) expect(locate(PASSAGE, exact)).toEqual(PASSAGE);
  });
});

describe('the surroundings of a quote', () => {
  it('are shown whole when short', () => {
    expect(endOf('Short. ')).toBe('Short. ');
    expect(startOf(' Short.')).toBe(' Short.');
  });

  it('are cut at a sentence, near the quote', () => {
    const text = Array.from({ length: 80 }, (_, i) => `Sentence number ${i}.`).join(' ');
    expect(endOf(text)).toMatch(/^… Sentence number \d+\. .*Sentence number 79\.$/);
    expect(startOf(text)).toMatch(/^Sentence number 0\. .*Sentence number \d+\. …$/);
    const chinese = '这是一个完整的句子。'.repeat(60);
    expect(endOf(chinese)).toMatch(/^… 这是一个完整的句子。/);
    expect(startOf(chinese)).toMatch(/这是一个完整的句子。 …$/);
    for (const cut of [endOf, startOf]) expect(cut('x'.repeat(900)).length).toBeLessThan(330);
  });

  it('are never cut through a character', () => {
    const trees = `a${'🌳'.repeat(400)}b`;
    for (const cut of [endOf, startOf, (text: string) => endOf(`${text}b`), (text: string) => startOf(`b${text}`)])
      expect(cut(trees)).not.toMatch(/[\ud800-\udfff]/u);
  });
});

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const equal = text.map((same): DiffStep => ({ op: 'equal', old: same, new: same }));
const other = fc.record({ op: fc.constantFrom('insert', 'delete', 'replace'), old: text, new: text });
const diffs = fc.array(fc.oneof(equal, other), { maxLength: 12 });

/** A passage of this text whose cited part lies somewhere in it. */
const cited = (whole: string, a: number, b: number): Quoted => {
  const [from, to] = [a, b].map((n) => n % (whole.length + 1)).sort((x, y) => x - y) as [number, number];
  return { before: whole.slice(0, from), exact: whole.slice(from, to), after: whole.slice(to) };
};

describe('pieces', () => {
  it('of each side are its passage, with the cited part and the changed words marked and nothing else', () => {
    fc.assert(
      fc.property(diffs, fc.nat(), fc.nat(), fc.constantFrom<['old', 'new']>('old', 'new'), (diff, a, b, side) => {
        const quoted = cited(diff.map((step) => step[side]).join(''), a, b);
        const pieces = piecesOf(quoted, diff, side);
        const join = (some: typeof pieces): string => some.map((piece) => piece.text).join('');
        expect(join(pieces)).toBe(wholeOf(quoted));
        expect(join(pieces.filter((piece) => piece.cited))).toBe(quoted.exact);
        const changed = diff.filter(({ op }) => op !== 'equal').map((step) => step[side]);
        expect(join(pieces.filter((piece) => piece.changed))).toBe(changed.join(''));
        expect(pieces.every((piece) => piece.text)).toBe(true);
      }),
    );
  });

  it('of a difference that belongs to another passage have no marked words', () => {
    const diff = [{ op: 'replace', old: 'Two', new: 'Zwei' }];
    expect(piecesOf(PASSAGE, diff, 'old').map(({ changed }) => changed)).toEqual([false, false, false]);
  });

  it('near the cited ones are few and hold them, however long and torn the passage is', () => {
    const diff = Array.from({ length: 20_000 }, (_, i) => ({ op: i % 2 ? 'delete' : 'equal', old: `w${i} `, new: '' }));
    const whole = diff.map(({ old }) => old).join('');
    const at = whole.indexOf('w15000 ');
    const quoted = { before: whole.slice(0, at), exact: 'w15000 ', after: whole.slice(at + 7) };
    const shown = near(piecesOf(quoted, diff, 'old'));
    expect(shown.length).toBeLessThan(400);
    expect(shown.find((piece) => piece.cited)!.text).toBe('w15000 ');
    const plain = near(piecesOf({ before: 'b. '.repeat(40_000), exact: 'quote', after: ' a.'.repeat(40_000) }, null, 'old'));
    expect(plain.map(({ text: one }) => one).join('').length).toBeLessThan(800);
    expect(near([])).toEqual([]);
  });

  it('between two changes lose their middle, not their ends', () => {
    const long = 'A sentence in the middle. '.repeat(100);
    const diff = [
      { op: 'insert', old: '', new: 'first ' },
      { op: 'equal', old: long, new: long },
      { op: 'insert', old: '', new: 'last' },
    ];
    const shown = near(piecesOf({ before: '', exact: 'first', after: ` ${long}last` }, diff, 'new'));
    const middle = shown.find((piece) => !piece.changed)!.text;
    expect(middle.length).toBeLessThan(800);
    expect(middle).toMatch(/^A sentence.* … A sentence.*\. $/);
  });
});

describe('a source from the server', () => {
  const body = { ...PASSAGE, version: 2, date: '2024-01-02', state: 'changed', current: null, diff: null };

  it('is read with the version of today beside it', () => {
    const now = { version: 3, date: null, before: '', exact: 'x', after: '' };
    const past = pastSourceOf({ ...body, current: now, diff: [{ op: 'equal', old: 'x', new: 'x' }] });
    expect(past).toMatchObject({ version: 2, date: '2024-01-02', quoted: PASSAGE, state: 'changed' });
    expect(past.current).toEqual({ version: 3, date: null, quoted: { before: '', exact: 'x', after: '' } });
    const gone = { version: 3, date: null, before: null, exact: null, after: null };
    expect(pastSourceOf({ ...body, current: gone }).current!.quoted).toBeNull();
  });

  it('of any other form is refused, or read without what is odd in it', () => {
    expect(pastSourceOf({ ...body, state: 'constructor' }).state).toBe('unknown');
    expect(pastSourceOf({ ...body, diff: [{ op: 'equal', old: 1 }] }).diff).toBeNull();
    fc.assert(
      fc.property(fc.anything(), fc.anything(), fc.anything(), (current, diff, date) => {
        expect(pastSourceOf({ ...body, current, diff, date }).quoted).toEqual(PASSAGE);
        for (const value of [current, { ...body, exact: diff === 'x' ? 1 : null }])
          expect(() => pastSourceOf(value)).toThrow(TypeError);
      }),
    );
  });
});
