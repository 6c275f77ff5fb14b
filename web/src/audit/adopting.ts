/** The button that makes a correction the answer of record, and what came of it. */

import { html, nothing, type TemplateResult } from 'lit';

import type { Locale } from '../i18n';
import { refusalText } from './notices';
import type { Opened } from './records';
import type { RulingState } from './rulings';
import { auditWords } from './words';

/** Nothing for those who may not, and where the words of the correction are gone. */
export function adoptView(
  { record, texts }: Opened,
  { adopting, adopted, mayAdopt }: RulingState,
  locale: Locale,
  adopt: () => void,
): TemplateResult | typeof nothing {
  if (record.kind !== 'correction' || !mayAdopt || !texts?.['correction']) return nothing;
  const w = auditWords(locale);
  const own = adopted?.record === record.id ? adopted : null;
  const idle = !adopting && !own?.done;
  return html`
    <section aria-labelledby="adopt">
      <h3 id="adopt">${w.adopt.title}</h3>
      <p class="muted">${w.adopt.note}</p>
      <button class="text-button" aria-disabled=${idle ? 'false' : 'true'} @click=${() => idle && adopt()}>${w.adopt.act}</button>
      <div role="status">
        ${adopting ? html`<p class="note">${w.adopt.running}</p>` : nothing}
        ${own?.done ? html`<p class="note">${w.adopt.done} <q dir="auto">${own.done.question}</q></p>` : nothing}
        ${own?.refused ? html`<p class="note bad">${refusalText(own.refused, w.adopt.errors, w)}</p>` : nothing}
      </div>
    </section>
  `;
}
