/** How an answer came about: what each intermediate step wrote, and every call of a model with its prompt and reply. */

import {
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
  unsafeCSS,
} from 'lit';

import type { CallMessage, ModelCall } from '../calls';
import { countText, errorText, secondsText, words, wordsFor, type Locale, type Words } from '../i18n';
import type { Loads } from '../loads';
import type { TurnState } from '../reducer';
import type { Step } from '../steps';
import { planWords, type PlanWords } from '../words/plan';
import { define } from './define';
import sheet from '../styles/making.css?inline';
import { sheets } from './sheets';

export class AssistantMaking extends LitElement {
  static override properties: PropertyDeclarations = {
    turn: { attribute: false },
    loads: { attribute: false },
    locale: {},
    calls: { state: true },
    failed: { state: true },
    opened: { state: true },
  };
  static override styles = [sheets.base, unsafeCSS(sheet)];
  declare turn: TurnState;
  declare loads: Loads;
  declare locale: Locale;
  /** Null until they are loaded, which is when the answer is finished and this is shown. */
  declare calls: ModelCall[] | null;
  declare failed: boolean;
  /** Keys of the parts that are folded out; only their texts are drawn. */
  declare opened: ReadonlySet<string>;
  private loading = false;

  constructor() {
    super();
    this.calls = null;
    this.failed = false;
    this.opened = new Set();
  }

  override willUpdate(changed: PropertyValues<this>): void {
    const ended = this.turn.status !== 'running';
    if (changed.has('turn') && ended && !this.calls && !this.failed && !this.loading) void this.loadCalls();
  }

  override render(): TemplateResult {
    const { w, turn } = this;
    return html`
      ${
        turn.steps.length
          ? html`<section>
              <h3>${w.steps} <small>${turn.steps.length}</small></h3>
              <ol>
                ${turn.steps.map((step, i) => this.step(step, i))}
              </ol>
            </section>`
          : nothing
      }
      <section>
        <h3>${w.calls} <small>${this.calls?.length || ''}</small></h3>
        ${this.callList()}
      </section>
    `;
  }

  private get w(): PlanWords {
    return planWords(this.locale);
  }

  private get words(): Words {
    return words(this.locale);
  }

  // ---- steps ----------------------------------------------------------------------------------------------------

  private step(step: Step, i: number): TemplateResult {
    const name = html`<span>${this.stepName(step)}</span> ${this.failure(step)}`;
    return html`<li>
      ${step.text === null ? html`<p class="line">${name}</p>` : this.fold(`s${i}`, name, () => verbatim(step.text!))}
    </li>`;
  }

  private stepName({ stage, done, total, text }: Step): string {
    if (this.turn.plan?.mode === 'verified' && done !== null && total === 3) {
      const name = wordsFor(this.w.verifiedSteps, String(done));
      if (name) return done === 3 && text ? this.w.withheld : name;
    }
    const name = wordsFor(this.words.stages, stage) ?? stage;
    return done === null ? name : `${name} ${this.words.ofTotal(done, total!)}`;
  }

  private failure({ failed }: Step): TemplateResult | typeof nothing {
    if (failed === null) return nothing;
    const why = errorText(this.words, failed);
    return html`<span class="bad">${this.w.stepFailed}</span> <span class="muted">${why}</span>`;
  }

  // ---- calls ----------------------------------------------------------------------------------------------------

  private callList(): TemplateResult {
    const { w, calls } = this;
    if (this.turn.status === 'running') return html`<p class="muted">${w.callsLater}</p>`;
    if (this.failed) {
      return html`<p class="muted" role="status">
        ${w.callsFailed} <button class="text-button" @click=${() => this.loadCalls()}>${this.words.tryAgain}</button>
      </p>`;
    }
    if (!calls) return html`<p class="muted" role="status">${this.words.loading}</p>`;
    if (!calls.length) return html`<p class="muted">${w.noCalls}</p>`;
    return html`<ol>
      ${calls.map((call, i) => html`<li>${this.fold(`c${i}`, this.callLine(call), () => this.callBody(call))}</li>`)}
    </ol>`;
  }

  private callLine(call: ModelCall): TemplateResult {
    const { w, locale } = this;
    const n = (count: number): string => countText(locale, count);
    const facts = [
      call.model,
      w.usageTokens(n(call.tokensIn), n(call.tokensOut)),
      call.tokensCached ? w.usageCached(n(call.tokensCached)) : '',
      call.cost === null ? '' : `$${call.cost.toFixed(4)}`,
      secondsText(locale, call.ms),
    ].filter(Boolean);
    return html`<span>${wordsFor(w.purposes, call.purpose) ?? call.purpose}</span> ${this.ending(call)}
      <span class="facts">${facts.map((fact) => html`<span>${fact}</span> `)}</span>`;
  }

  private ending({ ended }: ModelCall): TemplateResult | typeof nothing {
    if (ended === 'stop' || !ended) return nothing;
    return html`<span class="bad">${wordsFor(this.w.ended, ended) ?? errorText(this.words, ended)}</span>`;
  }

  private callBody(call: ModelCall): TemplateResult {
    return html`
      ${call.messages.map((message) => this.message(message))}
      <h4>${this.w.reply}</h4>
      ${call.text ? verbatim(call.text) : html`<p class="muted">${this.w.emptyReply}</p>`}
    `;
  }

  private message({ role, text, images }: CallMessage): TemplateResult {
    const { w } = this;
    return html`
      <h4>${wordsFor(w.roles, role) ?? role} ${images ? html`<small>${w.images(images)}</small>` : nothing}</h4>
      ${verbatim(text)}
    `;
  }

  private async loadCalls(): Promise<void> {
    this.loading = true;
    this.failed = false;
    try {
      this.calls = await this.loads.calls(this.turn.turn);
    } catch {
      this.failed = true;
    } finally {
      this.loading = false;
    }
  }

  // ---- folding --------------------------------------------------------------------------------------------------

  /** A part that is folded in; its body is drawn once it is folded out, as prompts are long. */
  private fold(key: string, summary: TemplateResult, body: () => TemplateResult): TemplateResult {
    return html`<details @toggle=${(event: Event) => this.toggled(key, (event.target as HTMLDetailsElement).open)}>
      <summary>${summary}</summary>
      ${this.opened.has(key) ? body() : nothing}
    </details>`;
  }

  private toggled(key: string, open: boolean): void {
    const opened = new Set(this.opened);
    if (open) opened.add(key);
    else opened.delete(key);
    this.opened = opened;
  }
}

/** A text as it was written, in a box that can be scrolled by keyboard. */
const verbatim = (text: string): TemplateResult => html`<pre dir="auto" tabindex="0">${text}</pre>`;

define('assistant-making', AssistantMaking);
