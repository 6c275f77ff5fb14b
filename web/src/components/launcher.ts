/** A round button in the corner of another page that opens the chat above it. */

import { html, type TemplateResult } from 'lit';

import type { Words } from '../i18n';
import { icons } from './icons';

/** `inside` is what the panel holds; it stays there while the panel is closed, so that an answer goes on. */
export function launcher(
  open: boolean,
  title: string,
  w: Words,
  inside: unknown,
  toggle: (open: boolean) => void,
): TemplateResult {
  const key = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') toggle(false);
  };
  return html`
    <div class="panel" part="panel" role="dialog" aria-label=${title || w.conversation} ?hidden=${!open} @keydown=${key}>
      ${inside}
    </div>
    <button
      class="knob filled"
      part="knob"
      aria-label=${open ? w.close : w.placeholder}
      aria-expanded=${open ? 'true' : 'false'}
      @click=${() => toggle(!open)}
    >
      ${open ? icons.close : icons.chat}
    </button>
  `;
}
