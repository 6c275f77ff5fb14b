/** Where a question is written: grows with its text, Enter sends, options on demand; while answering it can stop. */

import { html, LitElement, nothing, type PropertyDeclarations, type TemplateResult, unsafeCSS } from 'lit';

import { words, wordsFor, type Locale, type Words } from '../i18n';
import { codePoints } from '../reducer';
import { define } from './define';
import { emit } from './events';
import { icons } from './icons';
import sheet from '../styles/composer.css?inline';
import { sheets } from './sheets';

const LONGEST = 8000;

export class AssistantComposer extends LitElement {
  static override properties: PropertyDeclarations = {
    locale: {},
    collections: { attribute: false },
    modes: { attribute: false },
    running: { type: Boolean },
    stopping: { type: Boolean },
    text: { state: true },
    mode: { state: true },
    collection: { state: true },
    options: { state: true },
  };
  static override styles = [sheets.base, unsafeCSS(sheet)];
  declare locale: Locale;
  declare collections: string[];
  /** Names of the modes to choose from. */
  declare modes: string[];
  declare running: boolean;
  declare stopping: boolean;
  declare text: string;
  declare mode: string;
  declare collection: string;
  declare options: boolean;

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
  }

  /** Put the cursor where the next question is written. */
  override focus(): void {
    void this.updateComplete.then(() => this.field?.focus());
  }

  /** Empty the field and its options of another conversation. */
  clear(): void {
    this.text = '';
    void this.updateComplete.then(() => this.grow());
  }

  override render(): TemplateResult {
    const { w } = this;
    const excess = codePoints(this.text) - LONGEST;
    return html`
      <form @submit=${this.submit}>
        ${this.options ? this.choices() : nothing}
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
            @click=${() => (this.options = !this.options)}
          >
            ${icons.sliders}
          </button>
          ${this.chosen()}
          <span class="space" role="status">${excess > 0 ? w.tooLong(excess) : ''}</span>
          ${this.running ? this.stopButton() : this.sendButton(excess)}
        </div>
      </form>
    `;
  }

  private get w(): Words {
    return words(this.locale);
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
      ?disabled=${!this.text.trim() || excess > 0}
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

  private choices(): TemplateResult {
    const { w } = this;
    return html`
      <div class="choices">
        <label
          >${w.modeLabel}
          <select
            aria-describedby="mode-note"
            @change=${(event: Event) => (this.mode = (event.target as HTMLSelectElement).value)}
          >
            ${this.modes.map((mode) => option(mode, wordsFor(w.modes, mode) ?? mode, this.mode, this.note(mode)))}
          </select>
        </label>
        ${
          this.collections.length > 1
            ? html`<label
                >${w.scopeLabel}
                <select @change=${(event: Event) => (this.collection = (event.target as HTMLSelectElement).value)}>
                  ${option('', w.everywhere, this.collection)}
                  ${this.collections.map((name) => option(name, name, this.collection))}
                </select>
              </label>`
            : nothing
        }
        <p id="mode-note">${this.note(this.mode)}</p>
      </div>
    `;
  }

  /** One line on what a mode does. */
  private note(mode: string): string {
    return wordsFor(this.w.modeNotes, mode) ?? this.w.customMode;
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
    if (!text || this.running || codePoints(this.text) > LONGEST) return;
    emit(this, 'ask', { text, mode: this.mode, collections: this.collection ? [this.collection] : [] });
    this.options = false;
    this.clear();
  }
}

const option = (value: string, name: string, chosen: string, note = ''): TemplateResult =>
  html`<option value=${value} title=${note || nothing} ?selected=${value === chosen}>${name}</option>`;

define('assistant-composer', AssistantComposer);
