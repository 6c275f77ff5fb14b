/** Small signs and notes for sources that are no longer as they were: told apart by their shape, and in words. */

import { html, nothing, svg, type TemplateResult } from 'lit';

import { byFate, type Fate } from '../fates';
import type { Words } from '../i18n';

const SIGNS: Record<Fate, string> = {
  updated: 'M6 10V2M2.5 5.5L6 2l3.5 3.5',
  changed: 'M2 4.2h8M2 7.8h8M8 1.5l-4 9',
  deleted: 'M2.5 2.5l7 7M9.5 2.5l-7 7',
  not_available: 'M2.5 5.5h7V10h-7zM4 5.5V4a2 2 0 0 1 4 0v1.5',
};

/** The sign alone; whoever draws it says it in words too. */
export function fateSign(fate: Fate | undefined): TemplateResult | typeof nothing {
  if (!fate) return nothing;
  return html`<svg class="fate ${fate}" viewBox="0 0 12 12" aria-hidden="true" focusable="false">
    ${svg`<path d=${SIGNS[fate]} />`}
  </svg>`;
}

/** One note for each kind of change, with the numbers that it is about. */
export function fateNotes(fates: ReadonlyMap<number, Fate>, w: Words): TemplateResult[] {
  return [...byFate(fates)].map(
    ([fate, numbers]) => html`<p class="note warn">${fateSign(fate)} ${w.sourceFate[fate](numbers)}</p>`,
  );
}
