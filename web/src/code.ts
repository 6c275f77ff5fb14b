/** A structured answer as code: its text unchanged, cut where spans begin and end, so that offsets need no mapping. */

import { indexes, type AnswerSpan } from './citations';
import type { Rendered, SpanPainter } from './markdown';

/** Whether the text of a structured answer is JSON; a refusal is a sentence. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The text in order, painted, with the buttons of each span where it ends; spans beyond the text end with it. */
export function renderCode(text: string, spans: readonly AnswerSpan[], painter: SpanPainter): Rendered {
  const where = indexes(text, spans);
  const at = (offset: number): number => where.get(offset) ?? text.length;
  const opening = grouped(spans, (span) => at(span.start));
  const closing = grouped(spans, (span) => at(span.end));
  const cuts = [...new Set([0, ...opening.keys(), ...closing.keys(), text.length])].sort((a, b) => a - b);
  let active: AnswerSpan[] = [];
  return cuts.map((from, i) => {
    const buttons = (closing.get(from) ?? []).map((span) => painter.buttons(span));
    active = [...active, ...(opening.get(from) ?? [])].filter((span) => at(span.end) > from);
    const piece = text.slice(from, cuts[i + 1] ?? text.length);
    return [buttons, piece ? painter.text(piece, active) : ''];
  });
}

function grouped(spans: readonly AnswerSpan[], key: (span: AnswerSpan) => number): Map<number, AnswerSpan[]> {
  const groups = new Map<number, AnswerSpan[]>();
  for (const span of spans) groups.set(key(span), [...(groups.get(key(span)) ?? []), span]);
  return groups;
}
