/**
 * A note that the documents disagree: both claims as quoted, and which one counts and why. `source` draws the number of
 * a side.
 */

import { html, nothing, type TemplateResult } from 'lit';

import { dayText, type Locale } from '../i18n';
import type { Rendered } from '../markdown';
import type { ConflictShown, ConflictSide, ConflictsFound } from '../protocol';
import { answerWords } from '../words/answer';
import { icons } from './icons';

/** How many conflicts are shown at once. */
const SHOWN = 2;

export function conflictNote(
  conflicts: ConflictsFound | null,
  locale: Locale,
  source: (n: number | null) => Rendered,
): TemplateResult | typeof nothing {
  if (!conflicts?.items.length) return nothing;
  const w = answerWords(locale);
  const first = conflicts.items.slice(0, SHOWN);
  const more = conflicts.items.slice(SHOWN);
  return html`
    <section class="conflict">
      <h3>${icons.balance} ${w.conflictTitle(conflicts.items.length)}</h3>
      ${first.map((item) => conflict(item, locale, source))}
      ${
        more.length
          ? html`<details>
              <summary>${w.moreConflicts(more.length)}</summary>
              ${more.map((item) => conflict(item, locale, source))}
            </details>`
          : nothing
      }
    </section>
  `;
}

function conflict(item: ConflictShown, locale: Locale, source: (n: number | null) => Rendered): TemplateResult {
  const w = answerWords(locale);
  return html`
    <div class="dispute">
      ${item.topic ? html`<p class="topic">${item.topic}</p>` : nothing}
      <div class="sides">${item.sides.map((side) => sideView(side, locale, source))}</div>
      <p class="verdict">
        ${w.resolution[item.resolution] ?? ''} ${w.followed[item.followed] ?? ''}
        ${item.kind === 'statement' ? w.foundByModel : ''}
        ${item.note ? html`<span class="muted">${item.note}</span>` : nothing}
      </p>
    </div>
  `;
}

function sideView(side: ConflictSide, locale: Locale, source: (n: number | null) => Rendered): TemplateResult {
  const w = answerWords(locale);
  return html`
    <figure class=${side.preferred ? 'side preferred' : 'side'}>
      <p class="when">
        ${side.date ? html`<time datetime=${side.date}>${dayText(locale, side.date)}</time>` : html`<span>${w.undated}</span>`}
        ${side.preferred ? html`<span class="tag">${icons.check}${w.preferred}</span>` : nothing}
      </p>
      <blockquote dir="auto">${side.claim}</blockquote>
      <figcaption>
        ${source(side.n)}
        <b>${side.title}</b>
        <span>${w.authority[side.authority]}</span>
      </figcaption>
    </figure>
  `;
}
