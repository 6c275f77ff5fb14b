/** The filters as a form. What is written counts when it is sent. */

import { html, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';

import { wordsFor, words, type Locale } from '../i18n';
import { CHOICES, FIELDS, fromForm, type Field, type Filters } from './filters';
import { auditWords, type AuditWords } from './words';

export interface FilterForm {
  locale: Locale;
  filters: Filters;
  apply(filters: Filters): void;
  clear(): void;
}

export function filterForm({ locale, filters, apply, clear }: FilterForm): TemplateResult {
  const w = auditWords(locale);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    apply(fromForm(event.target as HTMLFormElement));
  };
  return html`
    <form class="filters" aria-label=${w.filters} @submit=${submit}>
      ${FIELDS.map(
        (field) => html`<label><span>${w.fields[field]}</span>${control(field, filters[field], locale)}</label>`,
      )}
      <p class="muted">${w.days}</p>
      <div class="actions">
        <button class="text-button filled">${w.apply}</button>
        <button type="button" class="text-button" @click=${clear}>${w.clear}</button>
      </div>
    </form>
  `;
}

function control(field: Field, value: string, locale: Locale): TemplateResult {
  const choices = CHOICES[field];
  const w = auditWords(locale);
  if (choices) {
    return html`<select name=${field}>
      <option value="" .selected=${live(!value)}>${w.any}</option>
      ${choices.map(
        (choice) => html`<option value=${choice} .selected=${live(choice === value)}>${choiceText(w, field, choice)}</option>`,
      )}
    </select>`;
  }
  const isDay = field === 'since' || field === 'until';
  if (isDay) return html`<input type="date" name=${field} .value=${live(value)} />`;
  return html`<input
      name=${field}
      maxlength="2000"
      autocomplete="off"
      spellcheck="false"
      dir="auto"
      list=${field === 'mode' ? 'modes' : ''}
      .value=${live(value)}
    />${field === 'mode' ? modes(locale) : ''}`;
}

/** Modes by their names, as an operator can have added others. */
function modes(locale: Locale): TemplateResult {
  const known = Object.entries(words(locale).modes).filter(([name]) => name !== 'auto');
  return html`<datalist id="modes">
    ${known.map(([name, said]) => html`<option value=${name}>${said}</option>`)}
  </datalist>`;
}

function choiceText(w: AuditWords, field: Field, choice: string): string {
  if (field === 'conflict' || field === 'changed') return choice === 'true' ? w.yes : w.no;
  const known = field === 'kind' ? w.kinds : field === 'verdict' ? w.verdicts : w.ratings;
  return wordsFor(known, choice) ?? choice;
}
