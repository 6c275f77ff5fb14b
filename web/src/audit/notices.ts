/** What came of a verification and of an export, and why the server gave nothing, in words. */

import { html, nothing, type TemplateResult } from 'lit';

import { wordsFor } from '../i18n';
import { verdictLines } from './chain';
import type { Failure, Refused } from './failure';
import type { Office } from './office';
import type { AuditWords } from './words';

export const failureText = (kind: Failure, w: AuditWords): string =>
  ({ nothing: w.nothing, signedOut: w.signedOut, refused: w.refused, busy: w.tooMany, failed: w.failed })[kind];

/** Why an act was refused, in the words for its reason or its code. */
export const refusalText = ({ failure, code, reason }: Refused, known: Readonly<Record<string, string>>, w: AuditWords): string =>
  wordsFor(known, reason) ?? wordsFor(known, code) ?? failureText(failure, w);

/** How far a verification is, and its result: the last one stays until the next. */
export function verifiedNotice({ verifying, verified, verifyFailed }: Office, w: AuditWords): TemplateResult {
  const running = verifying !== null;
  return html`
    <div role="status">
      ${
        running
          ? html`<p class="verdict"><progress aria-label=${w.verify}></progress> ${w.verifying(verifying)}</p>`
          : nothing
      }
      ${
        verified && !running
          ? html`<div class="verdict ${verified.ok ? 'good' : 'bad'}">
              ${verdictLines(verified, w).map((line) => html`<p>${line}</p>`)}
            </div>`
          : nothing
      }
      ${verifyFailed ? html`<p class="note bad">${verifyFailed === 'busy' ? w.verifyBusy : failureText(verifyFailed, w)}</p>` : nothing}
    </div>
  `;
}

export function exportedNotice({ exporting }: Office, w: AuditWords): TemplateResult | typeof nothing {
  if (!exporting) return nothing;
  if (exporting === 'running' || exporting === 'done') {
    return html`<p class="note" role="status">${exporting === 'running' ? w.exporting : w.exported}</p>`;
  }
  return html`<p class="note bad" role="status">${exporting === 'nothing' ? w.noExport : failureText(exporting, w)}</p>`;
}
