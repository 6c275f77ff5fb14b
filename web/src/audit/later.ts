/** What people said about an answer, a correction beside the original, and what else is on the record about it. */

import { html, nothing, type TemplateResult } from 'lit';

import { wordsFor, type Locale } from '../i18n';
import type { AnswerTurn } from './answer-turn';
import type { RecordItem, Remark } from './records';
import { timeText } from './said';
import { auditWords } from './words';

export function laterView(
  turn: AnswerTurn,
  remarks: readonly Remark[] | null,
  others: readonly RecordItem[],
  locale: Locale,
  open: (id: string) => void,
): TemplateResult {
  const w = auditWords(locale);
  return html`
    <section aria-labelledby="later">
      <h3 id="later">${w.later}</h3>
      ${remarks === null ? html`<p class="muted" role="status">${w.loading}</p>` : nothing}
      ${remarks?.length === 0 ? html`<p class="muted">${w.noLater}</p>` : nothing}
      ${remarks?.map((remark) => remarkView(remark, turn, locale))}
    </section>
    <section>
      <h3>${w.looks}</h3>
      ${
        others.length
          ? html`<ul class="plain">
              ${others.map(
                (item) => html`<li>
                  <button class="text-button" aria-label=${w.open(item.seq)} @click=${() => open(item.id)}>${item.seq}</button>
                  ${wordsFor(w.kinds, item.kind) ?? item.kind} · ${timeText(locale, item.at)} · <code>${item.actor}</code>
                </li>`,
              )}
            </ul>`
          : html`<p class="muted">${w.noLooks}</p>`
      }
    </section>
  `;
}

function remarkView({ item, opened }: Remark, turn: AnswerTurn, locale: Locale): TemplateResult {
  const w = auditWords(locale);
  const { reason, correction } = opened?.texts ?? {};
  return html`
    <div class="remark">
      <p>
        <b>${wordsFor(w.kinds, item.kind) ?? item.kind}</b>
        ${item.rating ? html`<span class="badge">${wordsFor(w.ratings, item.rating) ?? item.rating}</span>` : nothing}
        <span class="muted">${timeText(locale, item.at)} · <code>${item.actor}</code></span>
      </p>
      ${opened?.erased ? html`<p class="muted">${w.erased}</p>` : nothing}
      ${reason ? html`<p class="said" dir="auto">${reason}</p>` : nothing}
      ${correction ? besides(turn.text, correction, locale) : nothing}
    </div>
  `;
}

function besides(original: string, correction: string, locale: Locale): TemplateResult {
  const w = auditWords(locale);
  return html`
    <div class="versions">
      <figure>
        <figcaption><b>${w.original}</b></figcaption>
        <blockquote>${original}</blockquote>
      </figure>
      <figure>
        <figcaption><b>${w.correction}</b></figcaption>
        <blockquote>${correction}</blockquote>
      </figure>
    </div>
  `;
}
