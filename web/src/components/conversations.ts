/** The list of past conversations, the latest first. */

import { html, nothing, type TemplateResult } from 'lit';

import type { ConversationItem } from '../api';
import { momentText, words, type Locale } from '../i18n';
import { icons } from './icons';

export interface ConversationActions {
  open(id: string): void;
  start(): void;
}

export function conversationList(
  items: readonly ConversationItem[],
  current: string | null,
  locale: Locale,
  act: ConversationActions,
): TemplateResult {
  const w = words(locale);
  const today = new Date().toDateString();
  const isToday = (item: ConversationItem): boolean => new Date(item.updated_at).toDateString() === today;
  const group = (name: string, members: ConversationItem[]): TemplateResult | typeof nothing =>
    members.length
      ? html`<h2>${name}</h2>
          <ul>
            ${members.map((item) => entry(item, item.session_id === current, !isToday(item), locale, act))}
          </ul>`
      : nothing;
  return html`
    <button class="start" @click=${act.start}>${icons.plus}${w.newConversation}</button>
    ${items.length ? nothing : html`<p class="none">${w.noConversations}</p>`} ${group(w.today, items.filter(isToday))}
    ${group(
      w.earlier,
      items.filter((item) => !isToday(item)),
    )}
  `;
}

function entry(
  item: ConversationItem,
  current: boolean,
  dated: boolean,
  locale: Locale,
  act: ConversationActions,
): TemplateResult {
  return html`
    <li>
      <button aria-current=${current ? 'true' : 'false'} @click=${() => act.open(item.session_id)}>
        <span dir="auto">${item.title || words(locale).untitled}</span>
        ${dated ? html`<time datetime=${item.updated_at}>${momentText(locale, item.updated_at)}</time>` : nothing}
      </button>
    </li>
  `;
}
