/** One line of the list of conversations: its name, and what can be done with it. */

import { html, nothing, type TemplateResult } from 'lit';

import type { ConversationItem, ExportFormat } from '../api';
import { momentText, type Locale } from '../i18n';
import type { ListWords } from '../words/list';
import { icons } from './icons';

export interface Entry {
  item: ConversationItem;
  title: string;
  w: ListWords;
  locale: Locale;
  /** Whether its day is shown. */
  dated: boolean;
  /** Whether its actions are shown. */
  open: boolean;
  current: boolean;
}

export interface EntryActions {
  open(): void;
  menu(shown: boolean): void;
  rename(): void;
  save(format: ExportFormat): void;
  remove(): void;
}

export function entryRow({ item, title, w, locale, dated, open, current }: Entry, act: EntryActions): TemplateResult {
  return html`
    <li data-id=${item.session_id} @keydown=${onEscape(open, () => act.menu(false))}>
      <div class="entry">
        <button class="name" aria-current=${current ? 'true' : 'false'} @click=${act.open}>
          <span dir="auto">${title}</span>
          ${dated ? html`<time datetime=${item.updated_at}>${momentText(locale, item.updated_at)}</time>` : nothing}
        </button>
        <button
          class="tool dots"
          aria-label=${w.actions(title)}
          aria-expanded=${open ? 'true' : 'false'}
          @click=${() => act.menu(!open)}
        >
          ${icons.more}
        </button>
      </div>
      ${
        open
          ? html`<div class="actions" role="group" aria-label=${w.actions(title)}>
              <button @click=${act.rename}>${w.rename}</button>
              <button @click=${() => act.save('markdown')}>${w.markdown}</button>
              <button @click=${() => act.save('json')}>${w.json}</button>
              <button class="bad" @click=${act.remove}>${w.remove}</button>
            </div>`
          : nothing
      }
    </li>
  `;
}

/** Its name in a field, where it is given another. */
export function nameForm(item: ConversationItem, w: ListWords, save: (title: string) => void, stop: () => void): TemplateResult {
  const submit = (event: Event): void => {
    event.preventDefault();
    const field = (event.target as HTMLFormElement).elements.namedItem('title') as HTMLInputElement;
    if (field.value.trim()) save(field.value.trim());
  };
  return html`
    <li data-id=${item.session_id}>
      <form class="rename" @submit=${submit} @keydown=${onEscape(true, stop)}>
        <input name="title" dir="auto" required maxlength="120" aria-label=${w.newName} .value=${item.title} />
        <button class="text-button filled">${w.save}</button>
        <button type="button" class="text-button" @click=${stop}>${w.cancel}</button>
      </form>
    </li>
  `;
}

/** Escape closes what was opened last, and nothing around it. */
const onEscape =
  (open: boolean, close: () => void) =>
  (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || !open) return;
    event.stopPropagation();
    close();
  };
