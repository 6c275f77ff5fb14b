/** Draws a quoted passage, alone or beside the one of today, with the words that came and went. */

import { html, nothing, type TemplateResult } from 'lit';

import { dayText, type Locale } from '../i18n';
import type { PastSource } from '../past-source';
import { near, piecesOf, type Piece, type Quoted } from '../quoted';
import { sourceWords, type SourceWords } from '../words/source';

type Side = 'old' | 'new';

/** One passage; `whole` shows all of it, not only what is near the quote, and `more` asks for that. */
export function passage(quoted: Quoted, locale: Locale, whole: boolean, more: () => void): TemplateResult {
  const pieces = piecesOf(quoted, null, 'old');
  const shown = whole ? pieces : near(pieces);
  return html`${quote(shown, 'old', sourceWords(locale))}${longer([[pieces, shown]], sourceWords(locale), more)}`;
}

/** The passage as it was and as it is, side by side where there is room; `then` is the old one with its cited part. */
export function bothPassages(
  { version, date, current, diff }: PastSource,
  then: Quoted,
  locale: Locale,
  whole: boolean,
  more: () => void,
): TemplateResult | typeof nothing {
  if (!current) return nothing;
  const w = sourceWords(locale);
  const old = piecesOf(then, diff, 'old');
  const now = current.quoted && piecesOf(current.quoted, diff, 'new');
  const shown = (pieces: Piece[]): Piece[] => (whole ? pieces : near(pieces));
  const [left, right] = [shown(old), now && shown(now)];
  return html`
    <div class="versions">
      <figure>${edition(w.then, version, date, locale)}${quote(left, 'old', w)}</figure>
      <figure>
        ${edition(w.now, current.version, current.date, locale)}
        ${right ? quote(right, 'new', w) : html`<p class="state changed">${w.passageGone}</p>`}
      </figure>
    </div>
    ${longer(now && right ? [[old, left], [now, right]] : [[old, left]], w, more)}
  `;
}

function edition(name: string, version: number, date: string | null, locale: Locale): TemplateResult {
  const w = sourceWords(locale);
  const day = date ? dayText(locale, date) : w.undated;
  return html`<figcaption><b>${name}</b> <span>${w.version(version)}</span> <span>${day}</span></figcaption>`;
}

/** White space counts inside of a quote, so nothing but the pieces stands in it. */
export function quote(pieces: readonly Piece[], side: Side, w: SourceWords): TemplateResult {
  return html`<blockquote>${pieces.map((piece) => drawn(piece, side, w))}</blockquote>`;
}

function drawn({ text, cited, changed }: Piece, side: Side, w: SourceWords): TemplateResult | string {
  const inner = cited ? html`<mark>${text}</mark>` : text;
  if (!changed) return inner;
  const [before, after] = side === 'old' ? w.removed : w.added;
  // Blanks alone are not worth a word.
  const said = (words: string): TemplateResult | typeof nothing =>
    text.trim() ? html`<span class="heard">${words}</span>` : nothing;
  const all = html`${said(before)}${inner}${said(after)}`;
  return side === 'old' ? html`<del>${all}</del>` : html`<ins>${all}</ins>`;
}

/** The button for all of the passages where one of them is not shown whole. */
function longer(sides: (readonly [Piece[], Piece[]])[], w: SourceWords, more: () => void): TemplateResult | typeof nothing {
  const isWhole = ([all, shown]: readonly [Piece[], Piece[]]): boolean => textOf(all) === textOf(shown);
  if (sides.every(isWhole)) return nothing;
  return html`<button class="text-button" @click=${more}>${w.wholePassage}</button>`;
}

const textOf = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join('');
