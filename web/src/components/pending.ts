/** A question on its way to the server, or one that was refused. */

import { html, type TemplateResult } from 'lit';

import { errorText, type Words } from '../i18n';
import type { Pending } from '../reducer';

export function pendingQuestion(item: Pending, w: Words, again: () => void, remove: () => void): TemplateResult {
  return html`
    <div class="pending">
      <p class="bubble" dir="auto">${item.text}</p>
      ${
        item.error
          ? html`<p class="state" role="alert">
              ${w.notSent} ${errorText(w, item.error)}
              <button class="text-button" @click=${again}>${w.tryAgain}</button>
              <button class="text-button" @click=${remove}>${w.remove}</button>
            </p>`
          : html`<p class="state">${w.sending}</p>`
      }
    </div>
  `;
}
