/** What can be chosen for a question: how it is answered and where is looked. */

import { html, nothing, type TemplateResult } from 'lit';

import { words, wordsFor, type Locale } from '../i18n';
import { OPTIONS_WORDS } from '../words/options';

export interface Choices {
  locale: Locale;
  modes: readonly string[];
  mode: string;
  collections: readonly string[];
  /** Empty for all of them. */
  collection: string;
  choose(more: { mode?: string; collection?: string }): void;
}

export function choices({ locale, modes, mode, collections, collection, choose }: Choices): TemplateResult {
  const w = OPTIONS_WORDS[locale];
  const note = (name: string): string => wordsFor(w.modeNotes, name) ?? w.customMode;
  const known = words(locale).modes;
  return html`
    <div class="choices">
      <label
        >${w.modeLabel}
        <select aria-describedby="mode-note" @change=${(event: Event) => choose({ mode: chosen(event) })}>
          ${modes.map((name) => option(name, wordsFor(known, name) ?? name, mode, note(name)))}
        </select>
      </label>
      ${
        collections.length > 1
          ? html`<label
              >${w.scopeLabel}
              <select @change=${(event: Event) => choose({ collection: chosen(event) })}>
                ${option('', w.everywhere, collection)} ${collections.map((name) => option(name, name, collection))}
              </select>
            </label>`
          : nothing
      }
      <p id="mode-note">${note(mode)}</p>
    </div>
  `;
}

const chosen = (event: Event): string => (event.target as HTMLSelectElement).value;

const option = (value: string, name: string, selected: string, note = ''): TemplateResult =>
  html`<option value=${value} title=${note || nothing} ?selected=${value === selected}>${name}</option>`;
