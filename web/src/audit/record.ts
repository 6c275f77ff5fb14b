/** An opened record: the answer as it was given, what it rested on then and now, how it came about, its place in the chain. */

import { html, LitElement, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult, unsafeCSS } from 'lit';

import '../components/plan';
import { define } from '../components/define';
import { sheets } from '../components/sheets';
import type { TurnState } from '../reducer';
import { wordsFor, type Locale } from '../i18n';
import type { Citation } from '../protocol';
import conflict from '../styles/conflict.css?inline';
import source from '../styles/source.css?inline';
import text from '../styles/text.css?inline';
import turn from '../styles/turn.css?inline';
import { adoptView } from './adopting';
import { againView } from './again';
import { answerView } from './answer';
import { turnOf, type AnswerTurn } from './answer-turn';
import { chainView } from './chain';
import { citedPlaces, placeOf, type CitedPlace } from './cited';
import { emit } from './events';
import { evidenceView, factsView, otherFacts } from './facts';
import { laterView } from './later';
import type { Opened, RecordItem, Remark, Verified } from './records';
import { NO_RULINGS, type RulingState } from './rulings';
import { citedView, uncitedView } from './sources';
import { timeText } from './said';
import sheet from './styles/record.css?inline';
import shared from './styles/shared.css?inline';
import { auditWords, type AuditWords } from './words';

export class AssistantAuditRecord extends LitElement {
  static override properties: PropertyDeclarations = {
    opened: { attribute: false },
    remarks: { attribute: false },
    others: { attribute: false },
    verified: { attribute: false },
    rulings: { attribute: false },
    locale: {},
    whole: { state: true },
  };
  static override styles = [
    sheets.base,
    unsafeCSS(text),
    unsafeCSS(conflict),
    unsafeCSS(turn),
    unsafeCSS(source),
    unsafeCSS(shared),
    unsafeCSS(sheet),
  ];
  declare opened: Opened;
  /** What people said about the answer since; null while it is being opened. */
  declare remarks: readonly Remark[] | null;
  /** Other records about it. */
  declare others: readonly RecordItem[];
  declare verified: Verified | null;
  /** What this person has done about records, and may do. */
  declare rulings: RulingState;
  declare locale: Locale;
  /** The places of which the whole passage is shown. */
  declare whole: ReadonlySet<number>;
  private turn!: AnswerTurn;
  private places: CitedPlace[] = [];

  constructor() {
    super();
    this.remarks = null;
    this.others = [];
    this.verified = null;
    this.rulings = NO_RULINGS;
    this.whole = new Set();
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('opened')) return;
    this.turn = turnOf(this.opened);
    this.places = citedPlaces(this.turn, this.opened);
    this.whole = new Set();
  }

  override updated(changed: PropertyValues<this>): void {
    if (changed.has('opened')) this.renderRoot.querySelector<HTMLElement>('h2')?.focus();
  }

  override render(): TemplateResult {
    const { opened, w, locale } = this;
    const { record } = opened;
    return html`
      <article>
        <button class="text-button" @click=${() => emit(this, 'close-record', null)}>${w.back}</button>
        <h2 tabindex="-1">
          ${w.record(record.seq)}
          <small>${wordsFor(w.kinds, record.kind) ?? record.kind} · ${timeText(locale, record.at)}</small>
        </h2>
        ${opened.erased ? html`<p class="note warn">${w.erased}</p>` : nothing}
        ${opened.tampered ? html`<p class="note bad" role="alert">${w.tampered}</p>` : nothing}
        ${record.kind === 'turn' ? this.answered() : this.other()}
        ${chainView(record, this.verified, locale)} ${this.raw()}
      </article>
    `;
  }

  private get w(): AuditWords {
    return auditWords(this.locale);
  }

  private answered(): TemplateResult {
    const { opened, turn, places, locale, w } = this;
    return html`
      <section aria-labelledby="asked">
        <h3 id="asked">${w.asked}</h3>
        <p class="said" dir="auto">${turn.question || w.noText}</p>
        <h3>${w.answered}</h3>
        <div class="paper">${answerView(turn, locale, (citation) => this.show(citation))}</div>
      </section>
      <section aria-labelledby="cited">
        <h3 id="cited">${w.sources}</h3>
        ${places.length ? nothing : html`<p class="muted">${w.noSources}</p>`}
        ${places.map((place) => citedView(place, locale, this.whole.has(place.at), () => this.showWhole(place.at)))}
        ${uncitedView(turn, locale)}
      </section>
      ${laterView(turn, this.remarks, this.others, locale, (id) => emit(this, 'open-record', id))}
      ${opened.erased ? nothing : this.again()} ${this.planned()} ${factsView(opened, turn, locale)} ${evidenceView(opened.evidence, locale)}
    `;
  }

  /** A record that is not of an answer: what it says, what was said. */
  private other(): TemplateResult {
    const { record, texts } = this.opened;
    const { w, locale } = this;
    return html`
      ${
        texts && Object.keys(texts).length
          ? html`<section>
              <h3>${w.said}</h3>
              ${Object.values(texts).map((said) => html`<p class="said" dir="auto">${said}</p>`)}
            </section>`
          : nothing
      }
      <section>
        <h3>${w.facts}</h3>
        ${otherFacts(record, locale, (id) => emit(this, 'open-record', id))}
      </section>
      ${adoptView(this.opened, this.rulings, locale, () => emit(this, 'adopt-correction', record.id))}
    `;
  }

  private again(): TemplateResult {
    const { id } = this.opened.record;
    return againView(id, this.rulings, this.locale, (model) => emit(this, 'answer-again', { record: id, model }));
  }

  private planned(): TemplateResult {
    const { w, turn, locale } = this;
    return html`<section aria-labelledby="planned">
      <h3 id="planned">${w.planned}</h3>
      ${
        turn.plan
          ? html`<assistant-plan .turn=${turn as unknown as TurnState} locale=${locale}></assistant-plan>`
          : html`<p class="muted">${w.noPlan}</p>`
      }
    </section>`;
  }

  private raw(): TemplateResult {
    return html`<details>
      <summary>${this.w.raw}</summary>
      <pre class="code" dir="ltr" tabindex="0"><code>${JSON.stringify(this.opened.raw, null, 2)}</code></pre>
    </details>`;
  }

  private show(citation: Citation): void {
    const place = placeOf(this.places, citation);
    const target = place && this.renderRoot.querySelector<HTMLElement>(`#source-${place.at}`);
    target?.scrollIntoView({ block: 'start' });
    target?.focus({ preventScroll: true });
  }

  private showWhole(at: number): void {
    this.whole = new Set([...this.whole, at]);
  }
}

define('assistant-audit-record', AssistantAuditRecord);
