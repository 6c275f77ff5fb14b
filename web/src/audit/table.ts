/** The records in the order of the log. Nothing that a person wrote stands here before its record was opened. */

import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

import { wordsFor, type Locale } from '../i18n';
import type { RecordItem } from './records';
import { modeText, timeText } from './said';
import { auditWords, type AuditWords } from './words';

export interface RecordTable {
  locale: Locale;
  records: readonly RecordItem[];
  /** Questions of records that were opened in this visit, by id. */
  questions: ReadonlyMap<string, string>;
  /** The number of the first record that does not fit, null where none is known. */
  broken: number | null;
  open(id: string): void;
}

export function recordTable({ locale, records, questions, broken, open }: RecordTable): TemplateResult {
  const w = auditWords(locale);
  const row = (record: RecordItem): TemplateResult => html`
    <tr class=${record.seq === broken ? 'broken' : ''}>
      <td class="n">
        <button class="text-button" data-record=${record.id} aria-label=${w.open(record.seq)} @click=${() => open(record.id)}>
          ${record.seq}
        </button>
      </td>
      <td><time datetime=${record.at}>${timeText(locale, record.at)}</time></td>
      <td>${person(record)}</td>
      <td class="question">${question(record, questions, w)}</td>
      <td>
        ${record.mode ? html`<span>${modeText(locale, record.mode)}</span>` : nothing}
        ${record.model ? html`<span class="muted">${record.model}</span>` : nothing}
      </td>
      <td>${verdict(record, w)}</td>
      <td>${badges(record, w)}</td>
    </tr>
  `;
  return html`
    <div class="wide" tabindex="0" role="region" aria-label=${w.records}>
      <table>
        <thead>
          <tr>
            ${Object.values(w.columns).map((name) => html`<th scope="col">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${repeat(records, ({ id }) => id, row)}
        </tbody>
      </table>
    </div>
  `;
}

/** Whose text it is; who did it where that is another. */
function person({ actor, subject }: RecordItem): TemplateResult {
  const by = subject && actor !== subject ? html`<code class="muted">${actor}</code> → ` : nothing;
  return html`${by}<code>${subject ?? actor}</code>`;
}

function question({ id, kind }: RecordItem, questions: ReadonlyMap<string, string>, w: AuditWords): TemplateResult {
  const known = questions.get(id);
  if (known) return html`<span dir="auto">${known}</span>`;
  return kind === 'turn'
    ? html`<span class="muted">${w.unopened}</span>`
    : html`<b>${wordsFor(w.kinds, kind) ?? kind}</b>`;
}

export function verdict({ verdict: found }: RecordItem, w: AuditWords): TemplateResult | typeof nothing {
  return found ? html`<span class="badge ${found}">${wordsFor(w.verdicts, found) ?? found}</span>` : nothing;
}

export function badges(record: RecordItem, w: AuditWords): TemplateResult[] {
  const { status, finish, hasConflict, rating, sourceChanged } = record;
  const shown = [
    status && status !== 'completed' ? (wordsFor(w.statuses, status) ?? status) : '',
    finish === 'no_answer' ? w.refusal : '',
    hasConflict ? w.conflict : '',
    rating ? (wordsFor(w.ratings, rating) ?? rating) : '',
    sourceChanged ? w.changed : '',
  ];
  return shown.filter(Boolean).map((text) => html`<span class="badge">${text}</span>`);
}
