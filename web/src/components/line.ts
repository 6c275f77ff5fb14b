/** A word about the connection when there is something to say about it. */

import { html, nothing, type TemplateResult } from 'lit';

import type { Link } from '../connection';
import { closeText, type Words } from '../i18n';

const DRAINING = 4002;
const RATE_LIMITED = 4004;
const SIGNED_OUT = 4501;

export interface Line {
  link: Link;
  /** Whether the server has said that nobody is signed in. */
  signedOut: boolean;
  /** Where people sign in, null where they do not. */
  signIn: string | null;
  retry(): void;
}

export function lineNote({ link, signedOut, signIn, retry }: Line, w: Words): TemplateResult | typeof nothing {
  const code = link.kind === 'closed' ? link.code : signedOut ? SIGNED_OUT : null;
  if (code === null) return comingBack(link, w);
  const link_ = code === SIGNED_OUT && signIn ? html`<a class="text-button" href=${signIn}>${w.signIn}</a>` : nothing;
  return html`<p class="line" role="alert">
    ${closeText(w, code)} ${link_} <button class="text-button" @click=${retry}>${w.reconnect}</button>
  </p>`;
}

/** The same words from the loss of a line until it is whole again, so that they do not come and go with each attempt. */
function comingBack(link: Link, w: Words): TemplateResult | typeof nothing {
  const lost = link.kind === 'waiting' || link.kind === 'connecting' ? link.lost : null;
  if (lost === null) return nothing;
  const said = lost === DRAINING ? w.restarting : lost === RATE_LIMITED ? w.tooFast : navigator.onLine ? w.lost : w.offline;
  return html`<p class="line" role="status">${said}</p>`;
}
