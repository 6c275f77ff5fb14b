/** The question why somebody looks, asked once in a visit, before anything personal is shown. */

import { html, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';

import type { AuditWords } from './words';

export interface ReasonForm {
  w: AuditWords;
  reason: string;
  given(reason: string): void;
  cancel(): void;
}

export function reasonForm({ w, reason, given, cancel }: ReasonForm): TemplateResult {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const field = (event.target as HTMLFormElement).elements.namedItem('reason') as HTMLTextAreaElement;
    if (field.value.trim()) given(field.value.trim());
    else field.focus();
  };
  return html`
    <dialog aria-labelledby="why" @close=${cancel}>
      <form @submit=${submit}>
        <h2 id="why">${w.reasonTitle}</h2>
        <label
          ><span>${w.reasonAsk}</span>
          <textarea name="reason" rows="3" maxlength="2000" required aria-describedby="why-note" .value=${live(reason)}></textarea>
        </label>
        <p id="why-note" class="muted">${w.reasonNote}</p>
        <div class="actions">
          <button class="text-button filled">${w.goOn}</button>
          <button type="button" class="text-button" @click=${cancel}>${w.cancel}</button>
        </div>
      </form>
    </dialog>
  `;
}
