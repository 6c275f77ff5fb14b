/** Where a question is written: grows with its text, Enter sends, options on demand; while answering it can stop. */

import { html, LitElement, nothing, type PropertyDeclarations, type TemplateResult, unsafeCSS } from 'lit';

import { words, wordsFor, type Locale, type Words } from '../i18n';
import { codePoints } from '../reducer';
import { define } from './define';
import { emit, type Filing } from './events';
import type { AssistantFiles } from './files';
import { icons } from './icons';
import sheet from '../styles/composer.css?inline';
import { sheets } from './sheets';

const LONGEST = 8000;

export class AssistantComposer extends LitElement {
  static override properties: PropertyDeclarations = {
    locale: {},
    collections: { attribute: false },
    modes: { attribute: false },
    filing: { attribute: false },
    running: { type: Boolean },
    stopping: { type: Boolean },
    text: { state: true },
    mode: { state: true },
    collection: { state: true },
    options: { state: true },
    holdsFiles: { state: true },
    dropping: { type: Boolean, reflect: true },
  };
  static override styles = [sheets.base, unsafeCSS(sheet)];
  declare locale: Locale;
  declare collections: string[];
  /** Names of the modes to choose from. */
  declare modes: string[];
  /** Takes files that go with the question; null where none may. */
  declare filing: Filing | null;
  declare running: boolean;
  declare stopping: boolean;
  declare text: string;
  declare mode: string;
  declare collection: string;
  declare options: boolean;
  /** Whether files have ever been attached here. */
  declare holdsFiles: boolean;
  /** Whether files are held above the page. */
  declare dropping: boolean;

  private choose: typeof import('./options').choices | null = null;

  constructor() {
    super();
    this.collections = [];
    this.modes = [];
    this.running = false;
    this.stopping = false;
    this.text = '';
    this.mode = 'auto';
    this.collection = '';
    this.options = false;
    this.filing = null;
    this.holdsFiles = false;
    this.dropping = false;
  }

  /** Put the cursor where the next question is written. */
  override focus(): void {
    void this.updateComplete.then(() => this.field?.focus());
  }

  /** Empty the field for the next question, or for another conversation. */
  clear(): void {
    this.text = '';
    this.forgetFiles();
    void this.updateComplete.then(() => this.grow());
  }

  /** Files go with one question, in one conversation. */
  forgetFiles(): void {
    this.files?.clear();
  }

  /** Send files to the server, to go with the next question. */
  async attach(files: Iterable<File>): Promise<void> {
    const all = [...files];
    if (!this.filing || !all.length) return;
    this.holdsFiles = true;
    await Promise.all([import('./files'), this.updateComplete]);
    this.files?.add(all);
  }

  override render(): TemplateResult {
    const { w } = this;
    const excess = codePoints(this.text) - LONGEST;
    return html`
      <form part="composer" @submit=${this.submit} @paste=${this.paste}>
        ${this.choices()} ${this.fileList()}
        <textarea
          rows="1"
          dir="auto"
          aria-label=${w.placeholder}
          placeholder=${w.placeholder}
          aria-invalid=${excess > 0 ? 'true' : 'false'}
          .value=${this.text}
          @input=${this.typed}
          @keydown=${this.key}
        ></textarea>
        <div class="row">
          <button
            type="button"
            class="tool"
            aria-label=${w.options}
            title=${w.options}
            aria-expanded=${this.options ? 'true' : 'false'}
            @click=${this.toggleOptions}
          >
            ${icons.sliders}
          </button>
          ${this.filing ? this.attachButton() : nothing}
          ${this.chosen()}
          <span class="space" role="status">${excess > 0 ? w.tooLong(excess) : this.dropping ? w.dropHere : ''}</span>
          ${this.running ? this.stopButton() : this.sendButton(excess)}
        </div>
      </form>
    `;
  }

  private get w(): Words {
    return words(this.locale);
  }

  private get files(): AssistantFiles | null {
    return this.renderRoot.querySelector('assistant-files');
  }

  private get field(): HTMLTextAreaElement | null {
    return this.renderRoot.querySelector('textarea');
  }

  private sendButton(excess: number): TemplateResult {
    const { w } = this;
    return html`<button
      class="main filled"
      aria-label=${w.ask}
      title=${w.ask}
      ?disabled=${!this.text.trim() || excess > 0 || this.files?.busy}
    >
      ${icons.send}
    </button>`;
  }

  private stopButton(): TemplateResult {
    const label = this.stopping ? this.w.stopping : this.w.stop;
    return html`<button
      type="button"
      class="main stop"
      aria-label=${label}
      title=${label}
      ?disabled=${this.stopping}
      @click=${() => emit(this, 'stop', null)}
    >
      ${icons.stop}
    </button>`;
  }

  private attachButton(): TemplateResult {
    const { w } = this;
    return html`
      <button type="button" class="tool" aria-label=${w.attach} title=${w.attach} @click=${this.pick}>${icons.clip}</button>
      <input type="file" multiple hidden tabindex="-1" aria-label=${w.attach} @change=${this.picked} />
    `;
  }

  private fileList(): TemplateResult | typeof nothing {
    if (!this.holdsFiles) return nothing;
    return html`<assistant-files
      .filing=${this.filing}
      locale=${this.locale}
      @files-changed=${() => this.requestUpdate()}
      @files-emptied=${() => this.focus()}
    ></assistant-files>`;
  }

  private pick(): void {
    this.renderRoot.querySelector<HTMLInputElement>('input[type=file]')?.click();
  }

  private picked(event: Event): void {
    const input = event.target as HTMLInputElement;
    void this.attach(input.files ?? []);
    // The same file may be chosen again after it was removed.
    input.value = '';
  }

  /** Files in the clipboard are attached; text is text even where a picture of it comes along. */
  private paste(event: ClipboardEvent): void {
    const { clipboardData } = event;
    if (!clipboardData?.files.length || clipboardData.types.includes('text/plain')) return;
    event.preventDefault();
    void this.attach(clipboardData.files);
  }

  /** The options are loaded when they are opened for the first time. */
  private choices(): TemplateResult | typeof nothing {
    const { choose, locale, modes, mode, collections, collection } = this;
    if (!this.options || !choose) return nothing;
    return choose({ locale, modes, mode, collections, collection, choose: (more) => Object.assign(this, more) });
  }

  private async toggleOptions(): Promise<void> {
    this.options = !this.options;
    this.choose ??= (await import('./options')).choices;
    this.requestUpdate();
  }

  private chosen(): TemplateResult | typeof nothing {
    const parts = [this.mode === 'auto' ? '' : (wordsFor(this.w.modes, this.mode) ?? this.mode), this.collection].filter(Boolean);
    return parts.length && !this.options ? html`<span class="chosen">${parts.join(' · ')}</span>` : nothing;
  }

  private typed(event: Event): void {
    this.text = (event.target as HTMLTextAreaElement).value;
    this.grow();
    emit(this, 'typing', null);
  }

  private grow(): void {
    const { field } = this;
    if (!field) return;
    field.style.height = 'auto';
    field.style.height = `${field.scrollHeight}px`;
  }

  private key(event: KeyboardEvent): void {
    // 229: some input methods report Enter that ends a composition only so.
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    this.send();
  }

  private submit(event: Event): void {
    event.preventDefault();
    this.send();
  }

  private send(): void {
    const text = this.text.trim();
    const { files } = this;
    if (!text || this.running || files?.busy || codePoints(this.text) > LONGEST) return;
    const collections = this.collection ? [this.collection] : [];
    emit(this, 'ask', { text, mode: this.mode, collections, attachments: files?.ready ?? [] });
    this.options = false;
    this.clear();
  }
}

define('assistant-composer', AssistantComposer);
