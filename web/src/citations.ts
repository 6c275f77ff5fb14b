/**
 * Ties spans of the raw answer (code points) to places in its rendered markdown.
 *
 * Markdown has no source positions to map, so the spans travel through the lexer inside the text: at each start and end
 * a mark is put in, two rare punctuation signs around one private-use character, and taken out when the text is
 * rendered. Punctuation, because beside it emphasis opens and closes as it did without the mark (CommonMark 0.31, 6.2);
 * private use, because such characters are first removed from the answer, so that no model can write a mark. Where a
 * mark would still change the structure, it is left out and its buttons stand at the end.
 */

import { Lexer, type Token } from 'marked';

import { closingPlace, emphasisPlaces, openingPlace } from './places';
import type { Citation, CitationsAdded, Verdict } from './protocol';

/** A stretch of the answer with the citations that end there, or the verdict that it has no support. */
export interface AnswerSpan {
  start: number;
  end: number;
  verdict: Verdict;
  citations: Citation[];
}

export interface Annotated {
  tokens: Token[];
  spans: readonly AnswerSpan[];
  /** Indexes of spans that have no place in the tokens. */
  loose: number[];
}

interface Insertion {
  at: number;
  code: number;
}

const FENCE = '\u2e4f';
const FIRST = 0xe000;
const NOTHING = 0xf8ff - FIRST;
const PRIVATE = /[\ue000-\uf8ff]/g;
const MARK = /\u2e4f([\ue000-\uf8ff])\u2e4f/g;
const ESCAPED_MARK = /%E2%B9%8F%E[EF]%[89AB][0-9A-F]%[89AB][0-9A-F]%E2%B9%8F/gi;
/** Spans for which places are sought when not all of them fit at once; what is beyond is listed at the end. */
const TRIED = 200;
const MOST = (NOTHING >> 1) - 1;

export interface Piece {
  text: string;
  /** The mark after the text: 2 i opens span i, 2 i + 1 closes it; null at the end. */
  mark: number | null;
}

/** Cut a token's text at its marks. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(MARK)) {
    found.push({ text: text.slice(from, match.index), mark: match[1]!.charCodeAt(0) - FIRST });
    from = match.index + match[0].length;
  }
  found.push({ text: text.slice(from), mark: null });
  return found;
}

/** The text without marks. */
export const bare = (text: string): string => text.replace(MARK, '').replace(ESCAPED_MARK, '');

/** The spans of an answer in reading order: equal stretches are one, the weakest verdict wins. */
export function spansOf(citations: CitationsAdded | null): AnswerSpan[] {
  const spans = new Map<string, AnswerSpan>();
  const at = (start: number, end: number, verdict: Verdict): AnswerSpan => {
    const key = `${start}:${end}`;
    const span = spans.get(key) ?? { start, end, verdict, citations: [] };
    spans.set(key, span);
    return span;
  };
  for (const item of citations?.items ?? []) {
    const span = at(item.start, item.end, item.verdict);
    if (!span.citations.some((other) => other.n === item.n)) span.citations.push(item);
  }
  for (const item of citations?.unsupported ?? []) at(item.start, item.end, item.verdict).verdict = item.verdict;
  const sorted = [...spans.values()].filter((span) => span.start < span.end);
  for (const span of sorted) span.citations.sort((a, b) => a.n - b.n);
  return sorted.sort((a, b) => a.end - b.end || a.start - b.start).slice(0, MOST);
}

/** Lex an answer with the marks of its spans inside. The structure is that of the answer without marks. */
export function annotate(answer: string, spans: readonly AnswerSpan[]): Annotated {
  const text = answer.replace(PRIVATE, '\ufffd');
  const spacers = emphasisPlaces(text).map((at) => ({ at, code: NOTHING }));
  const plain = lex(insert(text, spacers));
  if (!spans.length) return { tokens: plain, spans, loose: [] };
  const where = indexes(text, spans);
  const marks = spans.map((span, i) => placed(text, span, i, where));
  const want = shape(plain);
  const all = lex(insert(text, [...spacers, ...marks.flat()]));
  if (shape(all) === want) return { tokens: all, spans, loose: [] };
  return fitting(text, spans, spacers, marks, want);
}

/**
 * Each span as far as it fits: with both marks, else with its buttons only, else at the end. Groups are halved until
 * they fit, as usually all but one or two do.
 */
function fitting(
  text: string,
  spans: readonly AnswerSpan[],
  spacers: Insertion[],
  marks: Insertion[][],
  want: string,
): Annotated {
  let kept = spacers;
  const loose: number[] = [];
  const fits = (more: Insertion[]): boolean => {
    const next = [...kept, ...more];
    if (shape(lex(insert(text, next))) !== want) return false;
    kept = next;
    return true;
  };
  const place = (from: number, to: number): void => {
    if (from >= to || fits(marks.slice(from, to).flat())) return;
    const middle = (from + to) >> 1;
    if (middle > from) {
      place(from, middle);
      place(middle, to);
    } else if (!fits(marks[from]!.slice(1))) loose.push(from);
  };
  place(0, Math.min(TRIED, marks.length));
  for (let i = TRIED; i < marks.length; i++) loose.push(i);
  return { tokens: lex(insert(text, kept)), spans, loose };
}

/** Markdown as the lexer reads it; text that it cannot take (nested without end) becomes one plain paragraph. */
function lex(text: string): Token[] {
  try {
    return Lexer.lex(text, { gfm: true, breaks: true });
  } catch {
    const raw = { type: 'text', raw: text, text } as Token;
    return [{ type: 'paragraph', raw: text, text, tokens: [raw] } as Token];
  }
}

/** What a reader would notice of the tokens, without the marks. */
const shape = (tokens: readonly Token[]): string => tokens.map(shapeOf).join('');

type Anything = Token & {
  href?: string;
  depth?: number;
  start?: number;
  lang?: string;
  text?: string;
  items?: Token[];
  header?: { tokens: Token[] }[];
  rows?: { tokens: Token[] }[][];
};

function shapeOf(token: Token): string {
  const {
    type,
    href = '',
    depth = '',
    start = '',
    lang = '',
    text = '',
    items = [],
    header = [],
    rows = [],
  } = token as Anything;
  const inner = ('tokens' in token && token.tokens) || [];
  if (type === 'space') return '';
  if (type === 'text' && !inner.length) return bare(token.raw);
  const cells = [header, ...rows].map((row) => row.map((cell) => `|${shape(cell.tokens)}`).join('')).join('/');
  const within = shape([...inner, ...items]) + cells || bare(text);
  return `<${type}${depth}${start}${lang} ${bare(href)}>${within}</>`;
}

function insert(text: string, insertions: readonly Insertion[]): string {
  // Stable: what closes at a place stands before what opens there, as spans are sorted by their end.
  const sorted = [...insertions].sort((a, b) => a.at - b.at || rank(a) - rank(b));
  const parts: string[] = [];
  let from = 0;
  for (const { at, code } of sorted) {
    parts.push(text.slice(from, at), FENCE, String.fromCharCode(FIRST + code), FENCE);
    from = at;
  }
  return parts.join('') + text.slice(from);
}

const rank = ({ code }: Insertion): number => (code === NOTHING ? 2 : code % 2 === 1 ? 0 : 1);

/** UTF-16 indexes of every code point offset that the spans name. */
export function indexes(text: string, spans: readonly AnswerSpan[]): Map<number, number> {
  const wanted = new Set(spans.flatMap((span) => [span.start, span.end]));
  const found = new Map<number, number>();
  let offset = 0;
  let index = 0;
  for (const char of text) {
    if (wanted.has(offset)) found.set(offset, index);
    offset++;
    index += char.length;
  }
  if (wanted.has(offset)) found.set(offset, index);
  return found;
}

function placed(text: string, span: AnswerSpan, i: number, where: Map<number, number>): Insertion[] {
  const start = openingPlace(text, where.get(span.start) ?? text.length);
  const end = closingPlace(text, where.get(span.end) ?? text.length);
  return [
    { at: Math.min(start, end), code: 2 * i },
    { at: end, code: 2 * i + 1 },
  ];
}
