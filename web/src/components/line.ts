/** A word about the connection when there is something to say about it. */

import { html, nothing, type TemplateResult } from 'lit';

import type { Link } from '../connection';
import { closeText, type Words } from '../i18n';

const SIGNED_OUT = 4501;

export function lineNote(link: Link, signedOut: boolean, w: Words, retry: () => void): TemplateResult | typeof nothing {
  if (link.kind === 'waiting') return html`<p class="line" role="status">${w.offline}</p>`;
  if (link.kind !== 'closed' && !signedOut) return nothing;
  const code = link.kind === 'closed' ? link.code : SIGNED_OUT;
  return html`<p class="line" role="alert">
    ${closeText(w, code)} <button class="text-button" @click=${retry}>${w.reconnect}</button>
  </p>`;
}
