/** One question and its answer: text with citations, doubts, conflicts, sources, feedback, how it was made. */

import {
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
  unsafeCSS,
} from 'lit';

import { annotate, spansOf, type Annotated, type AnswerSpan } from '../citations';
import { isJson, renderCode } from '../code';
import { fatesOf, type Fate } from '../fates';
import { footnoted } from '../footnotes';
import { dayText, errorText, sectionText, wordsFor, type Locale } from '../i18n';
import type { Loads } from '../loads';
import { render as markdown, type Rendered, type SpanPainter } from '../markdown';
import type { Citation } from '../protocol';
import type { TurnState } from '../reducer';
import { spokenCount } from '../steps';
import { answerWords, type AnswerWords } from '../words/answer';
import { conflictNote } from './conflicts';
import { define } from './define';
import { emit } from './events';
import { fateNotes, fateSign } from './fate';
import { feedback, type FeedbackState } from './feedback';
import { icons } from './icons';
import conflict from '../styles/conflict.css?inline';
import text from '../styles/text.css?inline';
import sheet from '../styles/turn.css?inline';
import { sheets } from './sheets';

/** Stands in the place of a model's name where a person answered. */
const HUMAN = 'human';

export class AssistantTurn extends LitElement {
  static override properties: PropertyDeclarations = {
    turn: { attribute: false },
    loads: { attribute: false },
    locale: {},
    focused: { attribute: false },
    planOpen: { state: true },
    madeOpen: { state: true },
    copied: { state: true },
    feedbackState: { state: true },
  };
  static override styles = [sheets.base, unsafeCSS(text), unsafeCSS(conflict), unsafeCSS(sheet)];
  declare turn: TurnState;
  declare loads: Loads;
  declare locale: Locale;
  /** The citation whose source is open beside the conversation. */
  declare focused: Citation | null;
  declare planOpen: boolean;
  declare madeOpen: boolean;
  /** What was copied just now. */
  declare copied: 'text' | 'notes' | null;
  declare feedbackState: FeedbackState;
  private spans: readonly AnswerSpan[] | null = null;
  /** The answer as markdown; null where it is JSON. */
  private annotated: Annotated | null = null;
  /** What became of its sources, by number. */
  private fates: ReadonlyMap<number, Fate> = new Map();

  constructor() {
    super();
    this.focused = null;
    this.planOpen = false;
    this.madeOpen = false;
    this.copied = null;
    this.feedbackState = { rating: null, writing: false, noted: false };
  }

  override willUpdate(changed: PropertyValues<this>): void {
    const before = changed.get('turn') as TurnState | undefined;
    const { text, citations, plan } = this.turn;
    if (changed.has('turn')) this.fates = fatesOf(this.turn);
    if (!changed.has('turn') || (this.spans && before?.text === text && before.citations === citations)) return;
    this.spans = spansOf(citations);
    this.annotated = plan?.structured && isJson(text) ? null : annotate(text, this.spans);
  }

  override render(): TemplateResult {
    const { turn, w } = this;
    const running = turn.status === 'running';
    return html`
      <div class="question">
        <h2 class="heard">${w.you}</h2>
        <div class="asked" part="question">
          <p dir="auto">${turn.question}</p>
          ${attached(turn.attachments, w)}
        </div>
      </div>
      <p class="heard" role="status" aria-live="polite">${running ? this.spoken() : ''}</p>
      <div class="answer" part="answer" aria-busy=${running ? 'true' : 'false'}>
        <h2 class="heard">${w.answer}</h2>
        ${turn.from_cache ? html`<p class="cached"><b>${w.fromCache}</b> ${w.fromCacheMore}</p>` : nothing}
        ${turn.model === HUMAN ? html`<p class="cached"><b>${w.byPerson}</b> ${w.byPersonMore}</p>` : nothing}
        ${turn.text ? this.text() : nothing}
        ${running ? this.stage() : nothing} ${this.notices()}
        ${conflictNote(turn.conflicts, this.locale, (n) => this.number(n))} ${this.sources()}
        ${running ? nothing : this.footer()} ${this.made()}
      </div>
    `;
  }

  private get w(): AnswerWords {
    return answerWords(this.locale);
  }

  // ---- the text -------------------------------------------------------------------------------------------------

  private text(): TemplateResult {
    if (this.annotated) return html`<div class="text" dir="auto">${markdown(this.annotated, this.painter())}</div>`;
    return html`<figure class="text code">
      <figcaption>${this.w.structured} ${this.copyButton()}</figcaption>
      <pre dir="ltr" tabindex="0"><code>${renderCode(this.turn.text, this.spans!, this.painter())}</code></pre>
    </figure>`;
  }

  private copyButton(): TemplateResult {
    return this.copier('text', this.w.copy, icons.copy, () => this.turn.text);
  }

  private notesButton(): TemplateResult | typeof nothing {
    if (!this.turn.citations?.items.length) return nothing;
    return this.copier('notes', this.w.notes, icons.notes, () => footnoted(this.turn, this.locale));
  }

  private copier(what: 'text' | 'notes', name: string, icon: TemplateResult, text: () => string): TemplateResult {
    const done = this.copied === what;
    return html`<button
      class="tool"
      aria-label=${done ? this.w.copied : name}
      title=${name}
      @click=${() => this.copy(what, text())}
    >
      ${done ? icons.check : icon}
    </button>`;
  }

  private painter(): SpanPainter {
    const lit = this.focused;
    return {
      text: (text, active) => {
        const doubt = active.find((span) => isDoubtful(span));
        if (doubt) return html`<span class=${doubt.verdict} title=${this.w.verdicts[doubt.verdict]}>${text}</span>`;
        const shown = lit && active.some((span) => span.start === lit.start && span.end === lit.end);
        return shown ? html`<mark>${text}</mark>` : text;
      },
      buttons: (span) => [
        span.citations.map((citation) => this.citeButton(citation)),
        isDoubtful(span) ? this.doubt(span) : nothing,
      ],
    };
  }

  private citeButton(citation: Citation): Rendered {
    const { w } = this;
    const fate = this.fates.get(citation.n);
    const said = [w.source(citation.n, citation.source.title), w.verdicts[citation.verdict], ...(fate ? [w.fate[fate]] : [])];
    const pressed = this.focused?.n === citation.n && this.focused.start === citation.start;
    return html`<button
      class="cite ${citation.verdict}"
      aria-label=${said.join(', ')}
      aria-haspopup="dialog"
      aria-expanded=${pressed ? 'true' : 'false'}
      title=${fate ? `${citation.source.title} (${w.fate[fate]})` : citation.source.title}
      @click=${() => this.open(citation)}
    >
      ${citation.n}${fateSign(fate)}
    </button>`;
  }

  /** A sign that can be reached by keyboard and says why the stretch before it is marked. */
  private doubt(span: AnswerSpan): Rendered {
    const text = this.w.verdicts[span.verdict];
    return html`<span class="why ${span.verdict}" tabindex="0" role="note" aria-label=${text}
      ><span aria-hidden="true">?</span><span class="tip" aria-hidden="true">${text}</span></span
    >`;
  }

  private open(citation: Citation): void {
    emit(this, 'open-source', { turn: this.turn.turn, citation });
  }

  /** The number of a source; it opens when this answer cites it. */
  private number(n: number | null): Rendered {
    const citation = this.turn.citations?.items.find((item) => item.n === n);
    if (citation) return this.citeButton(citation);
    return n === null ? nothing : html`<span class="cite plain">${n}</span>`;
  }

  // ---- around the text ------------------------------------------------------------------------------------------

  private stage(): TemplateResult {
    const { progress } = this.turn;
    const counted = progress && typeof progress.done === 'number' && typeof progress.total === 'number';
    const count = counted ? ` ${this.w.ofTotal(progress.done!, progress.total!)}` : '';
    return html`<p class="stage">
      <span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>${this.stageName()}${count}
    </p>`;
  }

  private stageName(): string {
    return wordsFor(this.w.stages, this.turn.stage) ?? this.w.stages['accepted']!;
  }

  /** The stage for those who listen; it stands outside of the answer, which is silent while it is busy. */
  private spoken(): string {
    const { progress, steps } = this.turn;
    const done = progress && spokenCount(progress);
    const count = done ? ` ${this.w.ofTotal(done, progress!.total!)}` : '';
    return `${this.stageName()}${count}. ${progress && steps.at(-1)?.failed ? this.w.stepFailed : ''}`;
  }

  private notices(): TemplateResult | typeof nothing {
    const { turn, w } = this;
    const notes: TemplateResult[] = [];
    if (turn.withheld) notes.push(html`<p class="note warn">${w.withheld}</p>`);
    else if (turn.status === 'failed') {
      notes.push(
        html`<p class="note bad">
          ${errorText(w, turn.error ?? 'internal')}
          <button class="text-button" @click=${() => emit(this, 'ask-again', { text: turn.question, mode: modeOf(turn) })}>
            ${w.tryAgain}
          </button>
        </p>`,
      );
    } else if (turn.status === 'cancelled') notes.push(html`<p class="note">${w.stopped}</p>`);
    else if (turn.finish === 'length') notes.push(html`<p class="note warn">${w.cutOff}</p>`);
    else if (turn.finish === 'no_answer' && !turn.text) notes.push(html`<p class="note">${w.noAnswer}</p>`);
    if (turn.plan?.mode === 'generation') notes.push(html`<p class="note">${w.ungrounded}</p>`);
    notes.push(...fateNotes(this.fates, w));
    return notes.length ? html`${notes}` : nothing;
  }

  private sources(): TemplateResult | typeof nothing {
    const first = new Map<number, Citation>();
    for (const item of this.turn.citations?.items ?? []) if (!first.has(item.n)) first.set(item.n, item);
    if (!first.size) return nothing;
    const sorted = [...first.values()].sort((a, b) => a.n - b.n);
    // Two passages of one document are told apart by their heading.
    const title = ({ source, n }: Citation): string => {
      const alone = !sorted.some((other) => other.n !== n && other.source.document === source.document);
      const heading = sectionText(source.title, source.section).split(' › ').at(-1);
      return alone || !heading ? source.title : `${source.title} › ${heading}`;
    };
    return html`
      <section class="sources" aria-label=${this.w.sources}>
        ${sorted.map(
          (item) => html`
            <button aria-haspopup="dialog" @click=${() => this.open(item)}>
              <span class="n">${item.n}</span><span class="title">${title(item)}</span>
              ${item.source.date ? html`<span class="date">${dayText(this.locale, item.source.date)}</span>` : nothing}
              ${this.fateOf(item.n)}
            </button>
          `,
        )}
      </section>
    `;
  }

  private fateOf(n: number): TemplateResult | typeof nothing {
    const fate = this.fates.get(n);
    return fate ? html`<span class="date">${fateSign(fate)} ${this.w.fate[fate]}</span>` : nothing;
  }

  private footer(): TemplateResult {
    const { turn, w } = this;
    const { citations } = turn;
    return html`
      <div class="footer">
        ${turn.text && this.annotated ? [this.copyButton(), this.notesButton()] : nothing}
        ${
          turn.text
            ? feedback(this.feedbackState, this.locale, turn.turn, this, (next) => {
                this.feedbackState = { ...this.feedbackState, ...next };
              })
            : nothing
        }
        ${
          citations && turn.text && turn.finish !== 'no_answer'
            ? html`<span
                class="coverage ${citations.status}"
                title=${citations.agreement ? w.agreement(citations.agreement) : ''}
                ><i aria-hidden="true"></i>${w.coverage[citations.status]}</span
              >`
            : nothing
        }
        ${turn.model ? html`<span class="model" title=${w.model}>${turn.model}</span>` : nothing}
      </div>
      ${
        turn.plan
          ? html`<details class="plan" ?open=${turn.plan.mode === 'no_text'} @toggle=${this.togglePlan}>
              <summary>${w.plan}</summary>
              ${this.planOpen ? html`<assistant-plan .turn=${turn} locale=${this.locale}></assistant-plan>` : nothing}
            </details>`
          : nothing
      }
    `;
  }

  private togglePlan(event: Event): void {
    this.planOpen = (event.target as HTMLDetailsElement).open;
    if (this.planOpen) void import('./plan');
  }

  /** How it was made: intermediate steps as they come, model calls when it is finished; loaded when it is opened. */
  private made(): TemplateResult | typeof nothing {
    const { turn } = this;
    if (!turn.steps.length && (turn.status === 'running' || !turn.plan)) return nothing;
    return html`<details class="made" @toggle=${this.toggleMade}>
      <summary>${this.w.made}</summary>
      ${
        this.madeOpen
          ? html`<assistant-making .turn=${turn} .loads=${this.loads} locale=${this.locale}></assistant-making>`
          : nothing
      }
    </details>`;
  }

  private toggleMade(event: Event): void {
    this.madeOpen = (event.target as HTMLDetailsElement).open;
    if (this.madeOpen) void import('./making');
  }

  private async copy(what: 'text' | 'notes', text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.copied = what;
      setTimeout(() => (this.copied = null), 2000);
    } catch {
      // Not permitted here; the text can still be selected.
    }
  }
}

/** The mode that was chosen for it; `auto` where none was. */
const modeOf = ({ plan }: TurnState): string => (plan?.reason_code === 'requested' ? plan.mode : 'auto');

const attached = (titles: readonly string[], w: AnswerWords): TemplateResult | typeof nothing =>
  titles.length
    ? html`<ul class="attached" aria-label=${w.attached}>
        ${titles.map((title) => html`<li>${icons.file}<span dir="auto">${title}</span></li>`)}
      </ul>`
    : nothing;

const isDoubtful = (span: AnswerSpan): boolean => span.verdict === 'unsupported' || span.verdict === 'contradicted';

define('assistant-turn', AssistantTurn);
