/** An answer given again: the button for it, both texts with the words that differ, verdicts, citations and cost of both. */

import { html, nothing, type TemplateResult } from 'lit';

import { quote } from '../components/passages';
import { countText, wordsFor, type Locale } from '../i18n';
import { piecesOf } from '../quoted';
import { answerWords } from '../words/answer';
import { planWords } from '../words/plan';
import { sourceWords } from '../words/source';
import { used, type Fact } from './facts';
import { refusalText } from './notices';
import { SIDES, type CitedPassage, type LeftOut, type Refollowed, type Replay, type ReplaySide, type Side } from './replay';
import type { Outcome, RulingState } from './rulings';
import { modeText } from './said';
import { auditWords, type AuditWords } from './words';

/** `ask` has the answer of this record given again, by another model where one is named. */
export function againView(record: string, { replaying, replayed }: RulingState, locale: Locale, ask: (model: string) => void): TemplateResult {
  const w = auditWords(locale);
  const own = replayed?.record === record ? replayed : null;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const field = (event.target as HTMLFormElement).elements.namedItem('model') as HTMLInputElement;
    if (replaying === null) ask(field.value.trim());
  };
  return html`
    <section aria-labelledby="again">
      <h3 id="again">${w.again.title}</h3>
      <p class="muted">${w.again.note}</p>
      <form class="again" @submit=${submit}>
        <label><span>${w.again.model}</span><input name="model" maxlength="200" autocomplete="off" spellcheck="false" /></label>
        <button class="text-button" aria-disabled=${replaying === null ? 'false' : 'true'}>${w.again.act}</button>
      </form>
      <div role="status">${standing(replaying, own, w)}</div>
      ${own?.done ? compared(own.done, locale) : nothing}
    </section>
  `;
}

function standing(replaying: number | null, replayed: Outcome<Replay> | null, w: AuditWords): TemplateResult | typeof nothing {
  if (replaying !== null) return html`<p class="note"><progress aria-label=${w.again.act}></progress> ${w.again.running(replaying)}</p>`;
  if (replayed?.refused) return html`<p class="note bad">${refusalText(replayed.refused, w.again.errors, w)}</p>`;
  return replayed?.done ? html`<p class="note">${replayed.done.same ? w.again.same : w.again.differs}</p>` : nothing;
}

function compared(replay: Replay, locale: Locale): TemplateResult {
  const { again } = auditWords(locale);
  return html`
    <div class="versions">${SIDES.map((side) => version(replay, side, locale))}</div>
    ${replay.lostImages ? html`<p class="note warn">${again.lostImages(replay.lostImages)}</p>` : nothing}
    ${citedBoth(replay, locale)} ${refollowed(replay.conflicts, locale)} ${valueTable(replay, locale)}
    ${leftOut(replay.leftOut, locale)}
  `;
}

function version(replay: Replay, side: Side, locale: Locale): TemplateResult {
  const w = auditWords(locale);
  const { text, model } = replay[side];
  const pieces = piecesOf({ before: text, exact: '', after: '' }, replay.diff, side);
  return html`<figure>
    <figcaption><b>${w.again[side]}</b> <span>${model}</span></figcaption>
    ${text ? quote(pieces, side, sourceWords(locale)) : html`<p class="muted">${w.noText}</p>`}
  </figure>`;
}

/** The passages that only one of them cites, and those that now carry more or less. */
function citedBoth({ kept, added, lost, rejudged }: Replay, locale: Locale): TemplateResult {
  const w = auditWords(locale);
  const cited = ({ title, exact, verdict }: CitedPassage): TemplateResult => passageItem(title, exact, badge(verdict, w));
  return html`
    <h4>${w.again.cited}</h4>
    <p>${w.again.kept(kept)}</p>
    ${list(w.again.rejudged, rejudged.map((one) => passageItem(one.title, one.exact, html`${badge(one.old, w)}→ ${badge(one.new, w)}`)))}
    ${list(w.again.lost, lost.map(cited))} ${list(w.again.added, added.map(cited))}
  `;
}

const badge = (verdict: string, w: AuditWords): TemplateResult =>
  html`<span class="badge ${verdict}">${wordsFor(w.verdicts, verdict) ?? verdict}</span>`;

const passageItem = (title: string, exact: string, verdicts: TemplateResult): TemplateResult =>
  html`<li>${verdicts} ${title} <q dir="auto">${exact}</q></li>`;

const list = (name: string, items: TemplateResult[]): TemplateResult | typeof nothing =>
  items.length ? html`<p class="part"><b>${name}</b></p><ul class="plain">${items}</ul>` : nothing;

function refollowed(conflicts: readonly Refollowed[], locale: Locale): TemplateResult | typeof nothing {
  const { again } = auditWords(locale);
  const followed = (name: string | null): string =>
    name === null ? again.unshown : wordsFor(answerWords(locale).followed, name) || again.silent;
  const rows = conflicts.map(
    (one) => html`<li>
      <b dir="auto">${one.topic}</b>
      ${SIDES.map((side) => html`<p><span class="muted">${again[side]}:</span> ${followed(one[side])}</p>`)}
    </li>`,
  );
  return list(again.conflicts, rows);
}

/** What has no value on either side is left out; what differs stands out on the new one. */
function valueTable(replay: Replay, locale: Locale): TemplateResult {
  const { again } = auditWords(locale);
  const now = facts(replay.new, locale);
  const rows = facts(replay.old, locale).map(([name, value], at) => [name, value || '–', now[at]![1] || '–'] as const);
  return html`
    <h4>${again.values}</h4>
    <div class="wide" tabindex="0" role="region" aria-label=${again.values}>
      <table>
        <thead>
          <tr><td></td>${SIDES.map((side) => html`<th scope="col">${again[side]}</th>`)}</tr>
        </thead>
        <tbody>
          ${rows
            .filter(([, old, fresh]) => old !== '–' || fresh !== '–')
            .map(([name, old, fresh]) => html`<tr><th scope="row">${name}</th><td>${old}</td><td>${old === fresh ? fresh : html`<b>${fresh}</b>`}</td></tr>`)}
        </tbody>
      </table>
    </div>
  `;
}

/** The same names in the same order for either side. */
function facts({ usage, agreement, ...side }: ReplaySide, locale: Locale): Fact[] {
  const w = auditWords(locale);
  return [
    [w.fact.model, side.model],
    [w.fact.prompt, side.prompt],
    [w.fact.mode, side.mode && modeText(locale, side.mode)],
    [w.fact.status, wordsFor(w.statuses, side.status) ?? side.status],
    [w.fact.finish, side.finish],
    [w.uncited, countText(locale, side.unsupported)],
    ...used({ usage, citations: { status: 'none', items: [], unsupported: [], agreement } }, locale),
  ];
}

function leftOut(calls: readonly LeftOut[], locale: Locale): TemplateResult | typeof nothing {
  const { again } = auditWords(locale);
  const n = (count: number): string => countText(locale, count);
  const rows = calls.map(({ purpose, model, tokensIn, tokensOut, cost }) => {
    const spent = again.spent(n(tokensIn), n(tokensOut), cost === null ? null : `$${cost.toFixed(4)}`);
    return html`<li>${wordsFor(planWords(locale).purposes, purpose) ?? purpose} <span class="muted">${model} · ${spent}</span></li>`;
  });
  return list(again.leftOut, rows);
}
