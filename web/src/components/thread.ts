/** The turns of a conversation in their order, and below them the questions that are on their way. */

import { html, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

import type { Ask } from '../connection';
import { words, type Locale } from '../i18n';
import type { Loads } from '../loads';
import type { Pending, TurnState } from '../reducer';
import { on, type ChatEvents } from './events';
import type { OpenSource } from './open-source';
import { pendingQuestion } from './pending';

export interface Thread {
  turns: readonly TurnState[];
  pending: readonly Pending[];
  locale: Locale;
  loads: Loads;
  /** The source that is open beside it. */
  source: OpenSource | null;
  openSource(open: OpenSource): void;
  ask(question: Ask): void;
  rate(detail: ChatEvents['rate']): void;
  discard(id: string): void;
}

/** A question without choices. */
export const plainly = (text: string, mode = 'auto'): Ask => ({ text, mode, collections: [], attachments: [] });

export function thread(t: Thread): TemplateResult {
  return html`
    <div
      class="thread"
      part="thread"
      @open-source=${on('open-source', t.openSource)}
      @ask-again=${on('ask-again', ({ text, mode }) => t.ask(plainly(text, mode)))}
      @rate=${on('rate', t.rate)}
    >
      ${repeat(
        t.turns,
        (turn) => turn.turn,
        (turn) => turnView(turn, t),
      )}
      ${repeat(
        t.pending,
        (item) => item.id,
        (item) => waiting(item, t),
      )}
    </div>
  `;
}

const turnView = (turn: TurnState, { source, loads, locale }: Thread): TemplateResult =>
  html`<assistant-turn
    role="article"
    exportparts="question, answer"
    aria-label=${turn.question.slice(0, 80)}
    .turn=${turn}
    .loads=${loads}
    .focused=${source?.turn === turn.turn ? source.citation : null}
    locale=${locale}
  ></assistant-turn>`;

function waiting(item: Pending, { ask, discard, locale }: Thread): TemplateResult {
  const { id, text, mode, collections, attachments } = item;
  const again = (): void => {
    discard(id);
    ask({ text, mode, collections, attachments });
  };
  return pendingQuestion(item, words(locale), again, () => discard(id));
}
