/** An answer as plain text that can be pasted anywhere: its numbers in brackets, and below what each of them stands for. */

import { indexes, spansOf } from './citations';
import { dayText, sectionText, type Locale } from './i18n';
import { closingPlace } from './places';
import type { Citation, CitationsAdded } from './protocol';
import { answerWords } from './words/answer';

/** The answer alone where it cites nothing. */
export function footnoted(turn: { text: string; citations: CitationsAdded | null }, locale: Locale): string {
  const { text, citations } = turn;
  const first = new Map<number, Citation>();
  for (const item of citations?.items ?? []) if (!first.has(item.n)) first.set(item.n, item);
  if (!first.size) return text;
  const notes = [...first.values()].sort((a, b) => a.n - b.n).map((item) => `[${item.n}] ${sourceText(item, locale)}`);
  return `${numbered(text, citations)}\n\n${answerWords(locale).sources}\n${notes.join('\n')}\n`;
}

/** The numbers stand where the page shows them: behind the sentence and its closing signs. */
function numbered(text: string, citations: CitationsAdded | null): string {
  const spans = spansOf(citations);
  const where = indexes(text, spans);
  let marked = '';
  let from = 0;
  for (const { end, citations: cited } of spans) {
    if (!cited.length) continue;
    const at = Math.max(from, closingPlace(text, where.get(end) ?? text.length));
    marked += text.slice(from, at) + cited.map(({ n }) => `[${n}]`).join('');
    from = at;
  }
  return marked + text.slice(from);
}

function sourceText({ source }: Citation, locale: Locale): string {
  const { footnote, undated } = answerWords(locale);
  const parts = [
    source.title,
    sectionText(source.title, source.section),
    footnote.version(source.version),
    source.date ? dayText(locale, source.date) : undated,
    source.page ? footnote.page(source.page) : '',
    source.uri,
  ];
  return parts.map(oneLine).filter(Boolean).join(', ');
}

/** A title must not look like another note. */
const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
