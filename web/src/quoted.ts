/** A passage with its cited part, cut into the pieces that are drawn: what is cited, what changed, and what is near. */

/** before + exact + after is the passage, exact the cited part. */
export interface Quoted {
  before: string;
  exact: string;
  after: string;
}

/** A stretch that is equal in both passages, or stands for another; one of the texts may be empty. */
export interface DiffStep {
  op: string;
  old: string;
  new: string;
}

export interface Piece {
  text: string;
  cited: boolean;
  changed: boolean;
}

export const wholeOf = ({ before, exact, after }: Quoted): string => before + exact + after;

/**
 * The quote of this citation within the passage that was loaded: the passage can be longer than what this sentence
 * rests on. When the quote is not in it, the passage's own exact text is highlighted.
 */
export function locate(passage: Quoted, exact: string): Quoted {
  const whole = wholeOf(passage);
  const near = Math.max(0, passage.before.length - exact.length);
  const at = exact ? whole.indexOf(exact, near) : -1;
  if (at < 0) return { before: passage.before, exact: passage.exact, after: passage.after };
  return { before: whole.slice(0, at), exact, after: whole.slice(at + exact.length) };
}

/** One side of a difference in pieces; their texts are the passage. A difference that is not of this passage is ignored. */
export function piecesOf(quoted: Quoted, diff: readonly DiffStep[] | null, side: 'old' | 'new'): Piece[] {
  const whole = wholeOf(quoted);
  const steps = (diff ?? []).map((step) => ({ text: step[side], changed: step.op !== 'equal' }));
  const sound = steps.map(({ text }) => text).join('') === whole;
  const pieces: Piece[] = [];
  let at = 0;
  for (const { text, changed } of sound ? steps : [{ text: whole, changed: false }]) {
    pieces.push(...cut(text, changed, quoted.before.length - at, quoted.before.length + quoted.exact.length - at));
    at += text.length;
  }
  return pieces;
}

/** A stretch cut where the cited part begins and ends, both counted from its start. */
function cut(text: string, changed: boolean, from: number, to: number): Piece[] {
  const [start, end] = [Math.max(0, from), Math.max(0, to)];
  return [
    { text: text.slice(0, start), cited: false, changed },
    { text: text.slice(start, end), cited: true, changed },
    { text: text.slice(end), cited: false, changed },
  ].filter((piece) => piece.text);
}

const NEARBY = 320;
/** Pieces before the cited ones, and in all, that are drawn at first. */
const LEAD = 60;
const MOST = 300;

/** The pieces near the cited ones: of long stretches of plain text only the ends that touch others. */
export function near(pieces: readonly Piece[]): Piece[] {
  const from = Math.max(0, pieces.findIndex((piece) => piece.cited) - LEAD);
  const kept = pieces.slice(from, from + MOST);
  const last = kept.length - 1;
  const shown = kept.map((piece, i) =>
    piece.cited || piece.changed ? piece : { ...piece, text: shortened(piece.text, i === 0 && last > 0, i === last) },
  );
  const gap: Piece = { text: ' … ', cited: false, changed: false };
  return [...(from ? [gap] : []), ...shown, ...(from + MOST < pieces.length ? [gap] : [])];
}

function shortened(text: string, first: boolean, last: boolean): string {
  if (first) return endOf(text);
  if (last) return startOf(text);
  return text.length <= 2 * NEARBY ? text : startOf(text) + endOf(text).slice(1);
}

/** The last sentences of a text, at most about `NEARBY` letters of it, from the start of a line or sentence. */
export function endOf(text: string): string {
  if (text.length <= NEARBY) return text;
  const part = text.slice(-NEARBY).replace(/^[\udc00-\udfff]/, '');
  const start = /[\n。！？]|[.!?]\s/u.exec(part);
  return `… ${part.slice(start ? start.index + 1 : part.indexOf(' ') + 1).trimStart()}`;
}

/** The first sentences of a text, at most about `NEARBY` letters of it, to the end of a line or sentence. */
export function startOf(text: string): string {
  if (text.length <= NEARBY) return text;
  const part = text.slice(0, NEARBY).replace(/[\ud800-\udbff]$/, '');
  const whole =
    /^[\s\S]*(?:[。！？]|[.!?](?=\s)|(?=\n))/u.exec(part)?.[0] ?? part.slice(0, part.lastIndexOf(' ') + 1 || NEARBY);
  return `${whole.trimEnd()} …`;
}
