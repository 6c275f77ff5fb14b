/** A note that the documents disagree: both claims as quoted, and which one counts and why. */

import { html, nothing, type TemplateResult } from 'lit';

import { dayText, words, type Locale } from '../i18n';
import type { ConflictShown, ConflictSide, ConflictsFound } from '../protocol';
import { icons } from './icons';

export function conflictNote(
  conflicts: ConflictsFound | null,
  locale: Locale,
  open: (n: number) => void,
): TemplateResult | typeof nothing {
  if (!conflicts?.items.length) return nothing;
  const w = words(locale);
  return html`
    <section class="conflict">
      <h3>${icons.balance} ${w.conflictTitle(conflicts.items.length)}</h3>
      ${conflicts.items.map((item) => conflict(item, locale, open))}
    </section>
  `;
}

function conflict(item: ConflictShown, locale: Locale, open: (n: number) => void): TemplateResult {
  const w = words(locale);
  return html`
    <div class="dispute">
      ${item.topic ? html`<p class="topic">${item.topic}</p>` : nothing}
      <div class="sides">${item.sides.map((side) => sideView(side, locale, open))}</div>
      <p class="verdict">
        ${w.resolution[item.resolution] ?? ''} ${w.followed[item.followed] ?? ''}
        ${item.note ? html`<span class="muted">${item.note}</span>` : nothing}
      </p>
    </div>
  `;
}

function sideView(side: ConflictSide, locale: Locale, open: (n: number) => void): TemplateResult {
  const w = words(locale);
  const { n } = side;
  return html`
    <figure class=${side.preferred ? 'side preferred' : 'side'}>
      ${side.preferred ? html`<span class="tag">${icons.check}${w.preferred}</span>` : nothing}
      <blockquote>${side.claim}</blockquote>
      <figcaption>
        ${n === null
          ? nothing
          : html`<button class="cite" aria-label=${w.source(n, side.title)} @click=${() => open(n)}>${n}</button>`}
        <b>${side.title}</b>
        <span>${side.date ? dayText(locale, side.date) : w.undated}</span>
        <span>${w.authority[side.authority]}</span>
      </figcaption>
    </figure>
  `;
}
