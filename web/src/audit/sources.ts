/** One cited place: what rested on it, the passage then and now with the words that differ, and where it stands. */

import { html, nothing, type TemplateResult } from 'lit';

import { bothPassages, passage } from '../components/passages';
import { countText, dayText, sectionText, type Locale } from '../i18n';
import { excerpt } from '../plain';
import { locate } from '../quoted';
import type { AnswerTurn } from './answer-turn';
import type { CitedPlace } from './cited';
import { sourceWords } from '../words/source';
import { auditWords } from './words';

export function citedView(
  { at, citation, sentences, past }: CitedPlace,
  locale: Locale,
  whole: boolean,
  more: () => void,
): TemplateResult {
  const [w, chat] = [auditWords(locale), sourceWords(locale)];
  const { source } = citation;
  const section = sectionText(source.title, source.section);
  return html`
    <div class="cited" role="group" id="source-${at}" tabindex="-1" aria-labelledby="title-${at}">
      <h4 id="title-${at}"><span class="n" aria-hidden="true">${citation.n}</span>
        <span class="heard">${chat.source(citation.n, '')}</span>${source.title}${section ? html` <span class="muted">› ${section}</span>` : nothing}
      </h4>
      <p class="facts">
        <span>${chat.version(source.version)}</span>
        <span>${source.date ? dayText(locale, source.date) : chat.undated}</span>
        ${source.page ? html`<span>${chat.page(source.page)}</span>` : nothing}
        <span>${w.offsets(countText(locale, source.start), countText(locale, source.end))}</span>
        <span class="badge ${citation.verdict}">${w.verdicts[citation.verdict]}</span>
      </p>
      ${past ? html`<p class="state ${past.state}">${chat.sourceState[past.state]}</p>` : html`<p class="state unknown">${w.sourceGone}</p>`}
      ${passages(citation.source.exact, past, locale, whole, more)}
      <p class="rests"><b>${w.supports}:</b> ${sentences.map((sentence) => html`<q dir="auto">${sentence}</q> `)}</p>
      <p class="muted uri" dir="ltr">${source.uri}</p>
    </div>
  `;
}

function passages(
  exact: string,
  past: CitedPlace['past'],
  locale: Locale,
  whole: boolean,
  more: () => void,
): TemplateResult | typeof nothing {
  if (!past) return passage({ before: '', exact, after: '' }, locale, whole, more);
  const then = locate(past.quoted, exact);
  const both = past.state === 'changed' && past.current;
  return both ? bothPassages(past, then, locale, whole, more) : passage(then, locale, whole, more);
}

/** The sentences that nothing carries, with what was found of them. */
export function uncitedView({ text, citations }: AnswerTurn, locale: Locale): TemplateResult | typeof nothing {
  const found = citations?.unsupported ?? [];
  if (!found.length || !text) return nothing;
  const w = auditWords(locale);
  return html`
    <h4>${w.uncited}</h4>
    <ul class="plain">
      ${found.map(
        (span) => html`<li>
          <span class="badge ${span.verdict}">${w.verdicts[span.verdict]}</span> <q dir="auto">${excerpt(text, span)}</q>
        </li>`,
      )}
    </ul>
  `;
}
