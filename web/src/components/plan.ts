/** How an answer was made: the budget, the mode with its reason, the evidence, what was left out, what it cost. */

import { html, LitElement, nothing, svg, type PropertyDeclarations, type TemplateResult, unsafeCSS } from 'lit';

import { countText, dayText, secondsText, sectionText, words, wordsFor, type Locale, type Words } from '../i18n';
import type { Budget, DroppedPart, EvidenceShown, TurnPlanned, UsageReported } from '../protocol';
import type { TurnState } from '../reducer';
import { planWords, type PlanWords } from '../words/plan';
import { define } from './define';
import sheet from '../styles/plan.css?inline';
import { sheets } from './sheets';

const PARTS = ['system', 'history', 'evidence', 'question', 'output', 'margin'] as const;
type Part = (typeof PARTS)[number] | 'free';

/** The parts of the window that have tokens, with what is left over as `free`. */
export function partsOf(budget: Budget): { part: Part; tokens: number }[] {
  const parts: { part: Part; tokens: number }[] = PARTS.map((part) => ({ part, tokens: budget[part] ?? 0 }));
  const used = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  return [...parts, { part: 'free' as const, tokens: budget.window - used }].filter(({ tokens }) => tokens > 0);
}

/** The parts side by side, drawn with attributes, as a strict content policy permits no inline styles. */
function bar(parts: { part: Part; tokens: number }[]): TemplateResult[] {
  const total = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  let from = 0;
  return parts.map(({ part, tokens }) => {
    const x = (from / total) * 1000;
    from += tokens;
    return svg`<rect class=${part} x=${x} width=${Math.max(2, (tokens / total) * 1000 - 3)} height="10" />`;
  });
}

export class AssistantPlan extends LitElement {
  static override properties: PropertyDeclarations = { turn: { attribute: false }, locale: {} };
  static override styles = [sheets.base, unsafeCSS(sheet)];
  declare turn: TurnState;
  declare locale: Locale;

  override render(): TemplateResult | typeof nothing {
    const { plan, usage, question } = this.turn;
    if (!plan) return nothing;
    return html`
      <dl class="facts">
        ${
          plan.standalone && plan.standalone.trim() !== question.trim()
            ? this.fact(this.w.question, html`<q>${plan.standalone}</q>`)
            : nothing
        }
        ${this.fact(this.w.mode, wordsFor(this.words.modes, plan.mode) ?? plan.mode)}
        ${this.fact(this.w.reason, wordsFor(this.w.reasons, plan.reason_code) ?? plan.reason)}
      </dl>
      ${this.budget(plan.budget)} ${this.evidence(plan)} ${this.dropped(plan.budget.dropped)} ${this.usage(usage)}
      ${this.turn.audit_id ? html`<p class="record">${this.w.record} <code>${this.turn.audit_id}</code></p>` : nothing}
    `;
  }

  private get w(): PlanWords {
    return planWords(this.locale);
  }

  private get words(): Words {
    return words(this.locale);
  }

  private n(count: number): string {
    return countText(this.locale, count);
  }

  private fact(name: string, value: unknown): TemplateResult {
    return html`<div>
      <dt>${name}</dt>
      <dd>${value}</dd>
    </div>`;
  }

  private budget(budget: Budget): TemplateResult {
    const parts = partsOf(budget);
    const used = parts.reduce((sum, { part, tokens }) => (part === 'free' ? sum : sum + tokens), 0);
    return html`
      <section>
        <h3>${this.w.budget} <small>${this.w.budgetOf(this.n(used), this.n(budget.window))}</small></h3>
        <svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">${bar(parts)}</svg>
        <ul class="legend">
          ${parts.map(
            ({ part, tokens }) => html`<li><i class=${part}></i>${this.w.parts[part]} <b>${this.n(tokens)}</b></li>`,
          )}
        </ul>
      </section>
    `;
  }

  private evidence(plan: TurnPlanned): TemplateResult {
    const cited = new Map(this.turn.citations?.items.map((item) => [item.evidence, item.n]));
    return html`
      <section>
        <h3>${this.w.evidence} <small>${plan.evidence.length || ''}</small></h3>
        ${
          plan.evidence.length
            ? html`<ol class="evidence">
                ${plan.evidence.map((item) => this.item(item, cited.get(item.id)))}
              </ol>`
            : html`<p class="muted">${this.w.noEvidence}</p>`
        }
      </section>
    `;
  }

  private item(item: EvidenceShown, cited: number | undefined): TemplateResult {
    const { w } = this;
    const section = sectionText(item.title, item.section);
    return html`
      <li>
        <span class="n">${item.n ?? cited ?? '·'}</span>
        <div>
          <p class="title">${item.title}${section ? html` <span class="muted">› ${section}</span>` : nothing}</p>
          <p class="meta">
            <span>${item.date ? dayText(this.locale, item.date) : this.words.undated}</span>
            <span>${this.words.authority[item.authority]}</span>
            <span>${w.score} ${item.score.toFixed(2)}</span>
            <span>${w.tokens(this.n(item.tokens))}</span>
            ${cited !== undefined ? html`<span class="tag good">${w.cited}</span>` : nothing}
            ${
              item.conflicts.length
                ? html`<span class="tag warn">${item.preferred === false ? w.notPreferred : w.inConflict}</span>`
                : nothing
            }
            ${item.flags.map((flag) => html`<span class="tag bad">${wordsFor(w.flags, flag) ?? flag}</span>`)}
          </p>
        </div>
      </li>
    `;
  }

  private dropped(dropped: readonly DroppedPart[]): TemplateResult | typeof nothing {
    if (!dropped.length) return nothing;
    return html`
      <section>
        <h3>${this.w.dropped} <small>${dropped.length}</small></h3>
        <ul class="dropped">
          ${dropped.map(
            (part) => html`
              <li>
                <b>${wordsFor(this.w.droppedKinds, part.kind) ?? part.kind}</b> ${this.nameOf(part)}
                <span class="muted"
                  >${this.w.tokens(this.n(part.tokens))} ·
                  ${wordsFor(this.w.droppedReasons, part.reason) ?? part.reason}</span
                >
              </li>
            `,
          )}
        </ul>
      </section>
    `;
  }

  /** The title of evidence that is known by its id, words for the notes of older turns; else the id. */
  private nameOf({ kind, ref }: DroppedPart): string {
    if (kind === 'history' && ref === 'notes') return this.w.notes;
    return this.turn.plan?.evidence.find((item) => item.id === ref)?.title ?? ref;
  }

  private usage(usage: UsageReported | null): TemplateResult | typeof nothing {
    if (!usage) return nothing;
    const { w } = this;
    const time = (say: (s: string) => string, ms: number | null): string =>
      typeof ms === 'number' ? say(secondsText(this.locale, ms)) : '';
    const facts = [
      w.usageCalls(usage.calls),
      w.usageTokens(this.n(usage.tokens_in), this.n(usage.tokens_out)),
      usage.tokens_cached ? w.usageCached(this.n(usage.tokens_cached)) : '',
      typeof usage.cost === 'number' ? `$${usage.cost.toFixed(4)}` : '',
      time(w.usageFirst, usage.ms_first_token),
      time(w.usageAnswer, usage.ms_answer),
      time(w.usageCitations, usage.ms_citations),
    ].filter(Boolean);
    return html`<section>
      <h3>${w.usage}</h3>
      <p class="meta">${facts.map((fact) => html`<span>${fact}</span>`)}</p>
    </section>`;
  }
}

define('assistant-plan', AssistantPlan);
