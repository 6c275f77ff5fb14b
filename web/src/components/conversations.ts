/** The list of past conversations, the latest first: search, open, rename, save as a file, delete. */

import { html, LitElement, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult, unsafeCSS } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

import { ApiError, type Api, type ConversationItem, type ExportFormat } from '../api';
import { words, type Locale } from '../i18n';
import { LIST_WORDS, type ListWords } from '../words/list';
import { define } from './define';
import { download } from './download';
import { entryRow, nameForm } from './entry';
import { emit } from './events';
import { icons } from './icons';
import { removalDialog } from './removal';
import sheet from '../styles/conversations.css?inline';
import { sheets } from './sheets';

const PAGE = 50;
const TYPING_PAUSE_MS = 250;

export class AssistantConversations extends LitElement {
  static override properties: PropertyDeclarations = {
    api: { attribute: false },
    current: { attribute: false },
    locale: {},
    revision: { type: Number },
    items: { state: true },
    next: { state: true },
    query: { state: true },
    loaded: { state: true },
    menu: { state: true },
    renaming: { state: true },
    removing: { state: true },
    said: { state: true },
    trouble: { state: true },
  };
  static override styles = [sheets.base, unsafeCSS(sheet)];
  declare api: Api;
  /** The conversation that is open. */
  declare current: string | null;
  declare locale: Locale;
  /** Another number: something has changed, look again. */
  declare revision: number;
  declare items: ConversationItem[];
  /** Where the list goes on. */
  declare next: string | null;
  declare query: string;
  /** Whether the list at hand is that of the server; false once it could not be had. */
  declare loaded: boolean | null;
  /** The conversation whose actions are shown. */
  declare menu: string | null;
  declare renaming: string | null;
  declare removing: ConversationItem | null;
  /** What was done last, in words. */
  declare said: string;
  /** Whether it did not work. */
  declare trouble: boolean;
  private asked = 0;
  private typing: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.current = null;
    this.revision = 0;
    this.items = [];
    this.next = null;
    this.query = '';
    this.loaded = null;
    this.menu = null;
    this.renaming = null;
    this.removing = null;
    this.said = '';
    this.trouble = false;
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('revision') || changed.has('api')) void this.load();
  }

  override updated(changed: PropertyValues<this>): void {
    if (changed.has('removing') && this.removing) this.renderRoot.querySelector('dialog')?.showModal();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.typing);
  }

  /** Put the cursor where the list begins. */
  override focus(): void {
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>('.start')?.focus());
  }

  // ---- what is in the list --------------------------------------------------------------------------------------

  /** Look again; as much of the list as was there. The last question counts. */
  private async load(): Promise<void> {
    const number = ++this.asked;
    const limit = Math.min(200, Math.max(PAGE, this.items.length));
    await this.fetched(number, null, limit, (items) => items);
    if (number === this.asked && this.query && this.loaded) this.said = this.w.found(this.items.length, this.next !== null);
  }

  private async loadMore(): Promise<void> {
    const before = this.items;
    const known = new Set(before.map((item) => item.session_id));
    await this.fetched(++this.asked, this.next, PAGE, (items) => [
      ...before,
      ...items.filter((item) => !known.has(item.session_id)),
    ]);
  }

  private async fetched(
    number: number,
    cursor: string | null,
    limit: number,
    merged: (items: ConversationItem[]) => ConversationItem[],
  ): Promise<void> {
    try {
      const page = await this.api.conversations(this.query.trim(), cursor, limit);
      if (number !== this.asked) return;
      this.items = merged(page.sessions.filter((item) => item.turns > 0));
      this.next = page.next ?? null;
      this.loaded = true;
    } catch (error) {
      if (number !== this.asked) return;
      this.loaded = false;
      if (error instanceof ApiError && error.status === 401) emit(this, 'signed-out', null);
    }
  }

  private search(event: Event): void {
    this.query = (event.target as HTMLInputElement).value;
    clearTimeout(this.typing);
    this.typing = setTimeout(() => void this.load(), TYPING_PAUSE_MS);
  }

  // ---- drawing --------------------------------------------------------------------------------------------------

  override render(): TemplateResult {
    const { w } = this;
    return html`
      <button class="start" @click=${() => emit(this, 'open-conversation', { id: null })}>
        ${icons.plus}${words(this.locale).newConversation}
      </button>
      <input
        type="search"
        dir="auto"
        maxlength="200"
        aria-label=${w.search}
        placeholder=${w.search}
        .value=${this.query}
        @input=${this.search}
      />
      <p class="heard" role="status">${this.said}</p>
      ${this.trouble ? html`<p class="none bad" role="alert">${w.notDone}</p>` : nothing}
      ${this.remark()} ${this.groups()}
      ${this.next ? html`<button class="text-button" @click=${this.loadMore}>${w.more}</button>` : nothing}
      ${this.removing ? removalDialog(this.titleOf(this.removing), w, this.removal(this.removing)) : nothing}
    `;
  }

  private get w(): ListWords {
    return LIST_WORDS[this.locale];
  }

  /** A word where there is no list. */
  private remark(): TemplateResult | typeof nothing {
    const { w } = this;
    if (this.loaded === false)
      return html`<p class="none" role="status">
        ${w.failed} <button class="text-button" @click=${this.load}>${w.again}</button>
      </p>`;
    if (this.items.length || this.loaded === null) return nothing;
    return html`<p class="none">${this.query.trim() ? w.noneFound : w.none}</p>`;
  }

  private groups(): TemplateResult {
    const today = new Date().toDateString();
    const isToday = (item: ConversationItem): boolean => new Date(item.updated_at).toDateString() === today;
    const group = (name: string, members: ConversationItem[]): TemplateResult | typeof nothing =>
      members.length
        ? html`<h2>${name}</h2>
            <ul>
              ${repeat(
                members,
                (item) => item.session_id,
                (item) => this.entry(item, !isToday(item)),
              )}
            </ul>`
        : nothing;
    const earlier = this.items.filter((item) => !isToday(item));
    return html`${group(this.w.today, this.items.filter(isToday))} ${group(this.w.earlier, earlier)}`;
  }

  private readonly titleOf = (item: ConversationItem): string => item.title || this.w.untitled;

  private entry(item: ConversationItem, dated: boolean): TemplateResult {
    const id = item.session_id;
    const { w, locale } = this;
    if (this.renaming === id)
      return nameForm(item, w, (title) => void this.rename(item, title), () => this.stopRenaming());
    const open = this.menu === id;
    return entryRow({ item, w, locale, dated, open, current: id === this.current, title: this.titleOf(item) }, {
      open: () => emit(this, 'open-conversation', { id }),
      menu: (shown) => {
        this.menu = shown ? id : null;
        if (!shown) void this.focusOn(id, '.dots');
      },
      rename: () => void this.startRenaming(item),
      save: (format) => void this.save(item, format),
      remove: () => (this.removing = item),
    });
  }

  // ---- doing ----------------------------------------------------------------------------------------------------

  private async startRenaming(item: ConversationItem): Promise<void> {
    this.menu = null;
    this.renaming = item.session_id;
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLInputElement>('.rename input')?.select();
  }

  private stopRenaming(): void {
    const id = this.renaming;
    this.renaming = null;
    if (id) void this.focusOn(id, '.dots');
  }

  private async rename(item: ConversationItem, title: string): Promise<void> {
    await this.doing(this.w.renamed, async () => {
      await this.api.rename(item.session_id, title);
      this.items = this.items.map((one) => (one === item ? { ...one, title } : one));
      this.stopRenaming();
    });
  }

  private async save(item: ConversationItem, format: ExportFormat): Promise<void> {
    await this.doing(this.w.saved, async () => {
      download(await this.api.export(item.session_id, format), this.titleOf(item), format === 'json' ? 'json' : 'md');
    });
  }

  private removal(item: ConversationItem): { yes(): void; no(): void } {
    return {
      no: () => {
        this.removing = null;
        void this.focusOn(item.session_id, '.dots');
      },
      yes: () => {
        this.removing = null;
        void this.doing(this.w.removed, () => this.delete(item));
      },
    };
  }

  /** The cursor goes to the conversation that takes its place. */
  private async delete(item: ConversationItem): Promise<void> {
    const index = this.items.indexOf(item);
    await this.api.remove(item.session_id);
    this.items = this.items.filter((one) => one.session_id !== item.session_id);
    emit(this, 'conversation-removed', { id: item.session_id });
    const next = this.items[index] ?? this.items[index - 1];
    if (next) await this.focusOn(next.session_id, '.name');
    else this.focus();
  }

  /** Do it and say that it was done, or that it was not. */
  private async doing(done: string, act: () => Promise<void>): Promise<void> {
    Object.assign(this, { said: '', trouble: false });
    try {
      await act();
      this.said = done;
    } catch {
      this.trouble = true;
    }
  }

  private async focusOn(id: string, what: string): Promise<void> {
    await this.updateComplete;
    const entry = [...this.renderRoot.querySelectorAll<HTMLElement>('li')].find((one) => one.dataset['id'] === id);
    entry?.querySelector<HTMLElement>(what)?.focus();
  }
}

define('assistant-conversations', AssistantConversations);
