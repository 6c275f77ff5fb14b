/** Asks whether a conversation is really to be deleted; Escape and the first button keep it. Who draws it shows it. */

import { html, type TemplateResult } from 'lit';

import type { ListWords } from '../words/list';

export function removalDialog(title: string, w: ListWords, answer: { yes(): void; no(): void }): TemplateResult {
  const closed = (event: Event): void => {
    if ((event.target as HTMLDialogElement).returnValue === 'yes') answer.yes();
    else answer.no();
  };
  return html`
    <dialog
      aria-labelledby="removal"
      aria-describedby="removal-text"
      @close=${closed}
      @keydown=${(event: Event) => event.stopPropagation()}
    >
      <form method="dialog">
        <h2 id="removal">${w.removeTitle}</h2>
        <p id="removal-text" dir="auto">${w.removeText(title)}</p>
        <div class="choice">
          <button class="text-button" value="no" autofocus>${w.cancel}</button>
          <button class="text-button danger" value="yes">${w.removeNow}</button>
        </div>
      </form>
    </dialog>
  `;
}
