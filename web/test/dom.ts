/** Renders answers as the page does and looks at what came out. */

import { html, render } from 'lit';

import { annotate, spansOf } from '../src/citations';
import { render as markdown, type SpanPainter } from '../src/markdown';
import type { Citation, CitationsAdded, SentenceVerdict } from '../src/protocol';

export const points = (text: string): number => [...text].length;

/** The span of the first occurrence of a sentence, in code points. */
export function span(answer: string, sentence: string): { start: number; end: number } {
  const at = answer.indexOf(sentence);
  if (at < 0) throw new Error(`not in the answer: ${sentence}`);
  const start = points(answer.slice(0, at));
  return { start, end: start + points(sentence) };
}

const SOURCE = {
  document: 'd',
  version: 1,
  sha256: '',
  title: 'T',
  uri: 'u',
  section: '',
  start: 0,
  end: 1,
  exact: 'x',
  page: null,
  date: null,
  authority: 'high',
  image: null,
  region: null,
} as const;

export const cite = (n: number, at: { start: number; end: number }): Citation => ({
  n,
  ...at,
  verdict: 'supported',
  score: 1,
  evidence: `e${n}`,
  source: SOURCE,
});

export const doubt = (at: { start: number; end: number }): SentenceVerdict => ({
  ...at,
  verdict: 'unsupported',
  score: 0,
  nearest: null,
});

const added = (items: Citation[], unsupported: SentenceVerdict[]): CitationsAdded => ({
  status: 'partial',
  items,
  unsupported,
  agreement: null,
});

/** Buttons as `[n]`, text without support as <s>. */
const PAINTER: SpanPainter = {
  text: (text, active) => (active.some((one) => one.verdict === 'unsupported') ? html`<s>${text}</s>` : text),
  buttons: (one) => one.citations.map((citation) => html`<button>[${citation.n}]</button>`),
};

export function draw(answer: string, items: Citation[] = [], unsupported: SentenceVerdict[] = []): HTMLElement {
  const root = document.createElement('div');
  const annotated = annotate(answer, spansOf(added(items, unsupported)));
  render(html`${markdown(annotated, PAINTER)}`, root);
  return root;
}

/** The words as read, white space between blocks as one space. */
export const words = (root: Element): string => (root.textContent ?? '').replace(/\s+/g, ' ').trim();

/** The same as text, without a DOM, for properties that are tried many times. */
export function drawText(answer: string, items: Citation[] = [], unsupported: SentenceVerdict[] = []): string {
  return flat(markdown(annotate(answer, spansOf(added(items, unsupported))), PAINTER));
}

function flat(value: unknown): string {
  if (Array.isArray(value)) return value.map(flat).join('');
  if (typeof value === 'object' && value !== null && 'strings' in value) {
    const { strings, values } = value as unknown as { strings: string[]; values: unknown[] };
    return strings.map((part, i) => part + flat(values[i])).join('');
  }
  return typeof value === 'string' || typeof value === 'number'
    ? String(value).replace(/&/g, '&amp;').replace(/</g, '&lt;')
    : '';
}

/** What is left without buttons, the lines that only hold buttons, and painted stretches. */
export const skeleton = (drawn: string): string =>
  drawn
    .replace(/<button>.*?<\/button>/g, '')
    .replace(/<p class="loose"><\/p>/g, '')
    .replace(/<\/?s>/g, '')
    .replace(/<span class="keep">([^<]*)<\/span>/g, '$1');
