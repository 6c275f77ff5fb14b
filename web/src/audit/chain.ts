/** Where a record stands in the chain, and what the last verification says of it. */

import { html, type TemplateResult } from 'lit';

import type { Locale } from '../i18n';
import { factList } from './facts';
import type { AuditRecord, Verified } from './records';
import { auditWords, type AuditWords } from './words';

export function chainView(record: AuditRecord, verified: Verified | null, locale: Locale): TemplateResult {
  const w = auditWords(locale);
  return html`
    <section aria-labelledby="chain">
      <h3 id="chain">${w.chain}</h3>
      <p>${w.chainNumber(record.seq)} · <code>${record.id}</code></p>
      <p class=${standing(record.seq, verified, w) === w.verifiedUnder ? 'note bad' : 'muted'}>${standing(record.seq, verified, w)}</p>
      ${factList([
        [w.hash, html`<code>${record.hash}</code>`],
        [w.previous, html`<code>${record.previous}</code>`],
        [w.sealed, record.sealedSha256 && html`<code>${record.sealedSha256}</code>`],
      ])}
    </section>
  `;
}

/** A record that is younger than the verification was not part of it. */
function standing(seq: number, verified: Verified | null, w: AuditWords): string {
  if (!verified) return w.notVerified;
  if (!verified.ok && (verified.seq === null || seq >= verified.seq)) return w.verifiedUnder;
  if (seq > verified.checked) return w.notVerified;
  return seq <= verified.covered ? w.verifiedOver : w.verifiedTail;
}

/** The result of a verification in whole sentences. */
export function verdictLines({ ok, checked, covered, unsigned, seq, until, reason, targets, external }: Verified, w: AuditWords): string[] {
  if (!ok) {
    const why = reason ? (Object.hasOwn(w.reasons, reason) ? w.reasons[reason]! : reason) : '';
    return [seq === null ? w.brokenAll : until === null ? w.broken(seq) : w.brokenWithin(seq, until), why, w.checkedBefore(checked)].filter(Boolean);
  }
  return [
    w.intact(checked),
    covered ? w.covered(covered) : w.uncovered,
    unsigned ? w.tail(unsigned) : '',
    external ? w.outside(external, targets) : w.inside,
  ].filter(Boolean);
}
