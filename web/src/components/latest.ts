/** A button that goes to the end of the conversation, hidden when it is in view. */

import { html, type TemplateResult } from 'lit';

import type { Words } from '../i18n';
import { icons } from './icons';

export const latest = (hidden: boolean, w: Words, jump: () => void): TemplateResult => html`
  <button class="latest" aria-label=${w.toLatest} title=${w.toLatest} ?hidden=${hidden} @click=${jump}>
    ${icons.down}
  </button>
`;
