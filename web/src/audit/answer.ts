/** The answer as it was given: the text as in the chat, with the numbers of its sources and the marks of its doubts. */

import { html, nothing, type TemplateResult } from 'lit';

import { annotate, spansOf, type AnswerSpan } from '../citations';
import { isJson, renderCode } from '../code';
import { conflictNote } from '../components/conflicts';
import { words, type Locale } from '../i18n';
import { render as markdown, type Rendered, type SpanPainter } from '../markdown';
import type { Citation } from '../protocol';
import type { AnswerTurn } from './answer-turn';
import { auditWords } from './words';

const isDoubtful = ({ verdict }: AnswerSpan): boolean => verdict === 'unsupported' || verdict === 'contradicted';

/** `show` goes to the source of a citation. */
export function answerView(turn: AnswerTurn, locale: Locale, show: (citation: Citation) => void): TemplateResult {
  const spans = spansOf(turn.citations);
  const painter = painterOf(locale, show);
  const asCode = turn.plan?.structured === true && isJson(turn.text);
  const number = (n: number | null): Rendered => {
    const citation = turn.citations?.items.find((item) => item.n === n);
    if (citation) return citeButton(citation, locale, show);
    return n === null ? nothing : html`<span class="cite plain">${n}</span>`;
  };
  if (!turn.text) return html`<p class="muted">${auditWords(locale).noText}</p>`;
  return html`
    ${
      asCode
        ? html`<pre class="text code" dir="ltr" tabindex="0"><code>${renderCode(turn.text, spans, painter)}</code></pre>`
        : html`<div class="text" dir="auto">${markdown(annotate(turn.text, spans), painter)}</div>`
    }
    ${conflictNote(turn.conflicts, locale, number)}
  `;
}

function painterOf(locale: Locale, show: (citation: Citation) => void): SpanPainter {
  const w = words(locale);
  return {
    text: (text, active) => {
      const doubt = active.find((span) => isDoubtful(span));
      return doubt ? html`<span class=${doubt.verdict} title=${w.verdicts[doubt.verdict]}>${text}</span>` : text;
    },
    buttons: (span) => [
      span.citations.map((citation) => citeButton(citation, locale, show)),
      isDoubtful(span)
        ? html`<span class="why ${span.verdict}" tabindex="0" role="note" aria-label=${w.verdicts[span.verdict]}
            ><span aria-hidden="true">?</span
            ><span class="tip" aria-hidden="true">${w.verdicts[span.verdict]}</span></span
          >`
        : nothing,
    ],
  };
}

function citeButton(citation: Citation, locale: Locale, show: (citation: Citation) => void): TemplateResult {
  const w = words(locale);
  return html`<button
    class="cite ${citation.verdict}"
    aria-label="${w.source(citation.n, citation.source.title)}, ${w.verdicts[citation.verdict]}"
    title=${citation.source.title}
    @click=${() => show(citation)}
  >
    ${citation.n}
  </button>`;
}
