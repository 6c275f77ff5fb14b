/** How an answer came about, as names and values: who with which rights, model and parameters, usage and times, evidence. */

import { html, nothing, type TemplateResult } from 'lit';

import { countText, dayText, secondsText, sectionText, words, wordsFor, type Locale } from '../i18n';
import { planWords } from '../words/plan';
import type { AnswerTurn } from './answer-turn';
import { fieldsOf, listOf, numberOrNull, textOf, type AuditRecord, type Opened, type ShownEvidence } from './records';
import { modeText, timeText } from './said';
import { auditWords } from './words';

export type Fact = readonly [name: string, value: unknown];

/** Names and values; what has no value is left out. */
export function factList(facts: readonly Fact[]): TemplateResult {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return html`<dl class="pairs">
    ${known.map(
      ([name, value]) => html`<div>
        <dt>${name}</dt>
        <dd dir="auto">${value}</dd>
      </div>`,
    )}
  </dl>`;
}

export function factsView({ record }: Opened, turn: AnswerTurn, locale: Locale): TemplateResult {
  const w = auditWords(locale);
  const parameters = Object.entries(fieldsOf(record.body['parameters'])).map(([name, value]): Fact => [name, plain(value)]);
  return html`
    <section aria-labelledby="facts">
      <h3 id="facts">${w.facts}</h3>
      ${factList([...who(record, locale), ...how(record, locale), ...used(turn, locale)])}
      ${parameters.length ? html`<h4>${w.parameters}</h4>${factList(parameters)}` : nothing}
    </section>
  `;
}

function who(record: AuditRecord, locale: Locale): Fact[] {
  const { fact } = auditWords(locale);
  const rights = fieldsOf(record.body['rights']);
  const scope = rights['scope'];
  const hidden = numberOrNull(rights['hidden_documents']);
  return [
    [fact.started, timeText(locale, textOf(record.body['started_at']))],
    [fact.subject, code(record.subject)],
    [fact.conversation, code(record.conversation)],
    [fact.turn, code(record.turn)],
    [fact.groups, listOf(rights['groups']).map(plain).join(', ')],
    [fact.scope, Array.isArray(scope) ? scope.map(plain).join(', ') : fact.everywhere],
    [fact.hidden, hidden === null ? null : countText(locale, hidden)],
  ];
}

function how({ body }: AuditRecord, locale: Locale): Fact[] {
  const w = auditWords(locale);
  const mode = textOf(body['mode']);
  const asked = textOf(body['mode_asked']);
  const status = textOf(body['status']);
  return [
    [w.fact.model, textOf(body['model'])],
    [w.fact.prompt, code(textOf(body['prompt']))],
    [w.fact.mode, mode && modeText(locale, mode)],
    [w.fact.modeAsked, asked && modeText(locale, asked)],
    [w.fact.reason, wordsFor(planWords(locale).reasons, textOf(body['reason_code'])) ?? textOf(body['reason'])],
    [w.fact.status, wordsFor(w.statuses, status) ?? status],
    [w.fact.finish, textOf(body['finish'])],
    [w.fact.error, textOf(body['error'])],
  ];
}

/** What an answer took; without usage the agreement alone. */
export function used({ usage, citations }: Pick<AnswerTurn, 'usage' | 'citations'>, locale: Locale): Fact[] {
  const w = auditWords(locale);
  const n = (count: number): string => countText(locale, count);
  const after = (ms: number | null): string | null => (ms === null ? null : secondsText(locale, ms));
  const agreement: Fact = [w.fact.agreement, citations?.agreement ? w.ofFive(citations.agreement) : null];
  if (!usage) return [agreement];
  return [
    agreement,
    [w.fact.calls, n(usage.calls)],
    [w.fact.tokens, w.tokensOf(n(usage.tokens_in), n(usage.tokens_out), n(usage.tokens_cached))],
    [w.fact.cost, usage.cost === null ? null : `$${usage.cost.toFixed(4)}`],
    [w.fact.first, after(usage.ms_first_token)],
    [w.fact.answer, after(usage.ms_answer)],
    [w.fact.citations, after(usage.ms_citations)],
  ];
}

/** What a record says that is not of an answer; the record that it is about can be opened. */
export function otherFacts(record: AuditRecord, locale: Locale, open: (id: string) => void): TemplateResult {
  const { fact, ...w } = auditWords(locale);
  const about = textOf(record.body['record']);
  const rating = textOf(record.body['rating']);
  const rest = Object.entries(record.body).filter(([name]) => !['reason', 'rating', 'record', 'seq'].includes(name));
  return factList([
    [fact.actor, code(record.actor)],
    [fact.subject, code(record.subject)],
    [fact.conversation, code(record.conversation)],
    [fact.turn, code(record.turn)],
    [fact.reason, textOf(record.body['reason'])],
    [fact.rating, wordsFor(w.ratings, rating) ?? rating],
    [fact.record, about && html`<button class="text-button" @click=${() => open(about)}>${about}</button>`],
    ...rest.map(([name, value]): Fact => [name, plain(value)]),
  ]);
}

/** What the model was shown, each piece with its place and its text. */
export function evidenceView(evidence: readonly ShownEvidence[], locale: Locale): TemplateResult | typeof nothing {
  if (!evidence.length) return nothing;
  const [w, chat] = [auditWords(locale), words(locale)];
  return html`
    <section>
      <h3>${w.shownEvidence(evidence.length)}</h3>
      ${evidence.map((one) => {
        const section = sectionText(one.title, one.section);
        return html`<details class="shown">
          <summary>${one.title}${section ? ` › ${section}` : ''}</summary>
          <p class="facts">
            <span>${chat.version(one.version)}</span>
            <span>${one.date ? dayText(locale, one.date) : chat.undated}</span>
            ${one.page ? html`<span>${chat.page(one.page)}</span>` : nothing}
            <span>${w.offsets(countText(locale, one.start), countText(locale, one.end))}</span>
            <span>${w.score(one.score.toFixed(2))}</span>
            ${one.flags.map((flag) => html`<span class="badge contradicted">${wordsFor(planWords(locale).flags, flag) ?? flag}</span>`)}
          </p>
          <blockquote>${one.exact}</blockquote>
          <p class="muted uri" dir="ltr">${one.uri} · sha256 ${one.sha256}</p>
        </details>`;
      })}
    </section>
  `;
}

const code = (text: string | null): TemplateResult | null => (text ? html`<code>${text}</code>` : null);

const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
