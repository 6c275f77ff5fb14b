/** Thumbs up or down, and after a thumb down what is wrong and the words it should have been. */

import { html, nothing, type TemplateResult } from 'lit';

import type { Locale } from '../i18n';
import type { Rating } from '../protocol';
import { answerWords } from '../words/answer';
import { emit } from './events';
import { icons } from './icons';

export interface FeedbackState {
  rating: Rating | null;
  writing: boolean;
  /** Whether the server has it. */
  noted: boolean;
}

export function feedback(
  state: FeedbackState,
  locale: Locale,
  turn: string,
  from: EventTarget,
  change: (next: Partial<FeedbackState>) => void,
): TemplateResult {
  const w = answerWords(locale);
  const rate = (rating: Rating): void => {
    emit(from, 'rate', { d: { turn, rating }, noted: () => change({ noted: true }) });
    change({ rating, writing: rating === 'down', noted: false });
  };
  const correct = (event: SubmitEvent): void => {
    event.preventDefault();
    const given = new FormData(event.target as HTMLFormElement);
    const reason = String(given.get('reason') ?? '');
    const correction = String(given.get('correction') ?? '').trim();
    const said = { ...(reason ? { reason } : {}), ...(correction ? { correction } : {}) };
    if (!reason && !correction) return change({ writing: false });
    change({ writing: false, noted: false });
    emit(from, 'rate', { d: { turn, rating: 'down', ...said }, noted: () => change({ noted: true }) });
  };
  const thumb = (rating: Rating, label: string, icon: TemplateResult): TemplateResult => html`
    <button
      class="tool"
      aria-label=${label}
      title=${label}
      aria-pressed=${state.rating === rating ? 'true' : 'false'}
      @click=${() => rate(rating)}
    >
      ${icon}
    </button>
  `;
  return html`
    ${thumb('up', w.good, icons.up)}${thumb('down', w.bad, icons.thumbDown)}
    ${state.noted && !state.writing ? html`<span class="thanks" role="status">${w.thanks}</span>` : nothing}
    ${
      state.writing
        ? html`<form class="correction" @submit=${correct}>
            <fieldset>
              <legend>${w.feedbackWhy}</legend>
              ${Object.entries(w.reasons).map(
                ([reason, name]) =>
                  html`<label class="reason"><input type="radio" name="reason" value=${reason} />${name}</label>`,
              )}
            </fieldset>
            <label>${w.feedbackAsk}<textarea name="correction" rows="2" maxlength="4000"></textarea></label>
            <button class="text-button filled">${w.sendFeedback}</button>
            <button type="button" class="text-button" @click=${() => change({ writing: false })}>${w.cancel}</button>
          </form>`
        : nothing
    }
  `;
}
