/** The files that go with the next question, each with what became of it: being read, ready, or refused and why. */

import { html, LitElement, nothing, type PropertyDeclarations, type TemplateResult, unsafeCSS } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

import { ApiError } from '../api';
import type { Locale } from '../i18n';
import type { Attached } from '../reducer';
import { FILE_WORDS, type FileWords } from '../words/files';
import { define } from './define';
import { emit, type Filing } from './events';
import { icons } from './icons';
import sheet from '../styles/files.css?inline';
import { sheets } from './sheets';

/** `turn.start` takes no more. */
const MOST = 10;

type Reason = keyof FileWords['reasons'];

interface Chip {
  key: number;
  title: string;
  /** Null until the server has it. */
  id: string | null;
  failed: Reason | null;
}

export class AssistantFiles extends LitElement {
  static override properties: PropertyDeclarations = {
    filing: { attribute: false },
    locale: {},
    chips: { state: true },
    said: { state: true },
    over: { state: true },
  };
  static override styles = [sheets.base, unsafeCSS(sheet)];
  declare filing: Filing;
  declare locale: Locale;
  declare chips: readonly Chip[];
  declare said: string;
  /** Whether more files came than may go with one question. */
  declare over: boolean;
  private keys = 0;

  constructor() {
    super();
    this.chips = [];
    this.said = '';
    this.over = false;
  }

  /** Those that the server has. */
  get ready(): Attached[] {
    return this.chips.flatMap(({ id, title }) => (id === null ? [] : [{ id, title }]));
  }

  /** Whether one of them is still on its way. */
  get busy(): boolean {
    return this.chips.some((chip) => chip.id === null && chip.failed === null);
  }

  /** Send these to the server, side by side. */
  add(files: readonly File[]): void {
    const room = MOST - this.chips.filter((chip) => chip.failed === null).length;
    this.over = files.length > room;
    for (const file of files.slice(0, room)) void this.send(file);
    this.tell();
  }

  /** They have gone with a question, or belong to another conversation; the server keeps what it has. */
  clear(): void {
    this.chips = [];
    this.over = false;
    this.said = '';
    this.tell();
  }

  private async send(file: File): Promise<void> {
    const key = ++this.keys;
    this.chips = [...this.chips, { key, title: file.name, id: null, failed: null }];
    try {
      const { id, title } = await this.filing.attach(file);
      if (!this.change(key, { id, title: title || file.name })) return void this.filing.detach(id).catch(() => undefined);
      this.said = this.w.ready(title);
    } catch (error) {
      this.change(key, { failed: reasonOf(error) });
    }
    this.tell();
  }

  /** False where it has been removed meanwhile. */
  private change(key: number, more: Partial<Chip>): boolean {
    const known = this.chips.some((chip) => chip.key === key);
    this.chips = this.chips.map((chip) => (chip.key === key ? { ...chip, ...more } : chip));
    return known;
  }

  private drop({ key, id }: Chip): void {
    if (id !== null) void this.filing.detach(id).catch(() => undefined);
    this.chips = this.chips.filter((chip) => chip.key !== key);
    this.over = false;
    this.tell();
    void this.updateComplete.then(() => {
      const next = this.renderRoot.querySelector<HTMLElement>('li button');
      if (next) next.focus();
      else emit(this, 'files-emptied', null);
    });
  }

  private tell(): void {
    emit(this, 'files-changed', null);
  }

  override render(): TemplateResult {
    const { w } = this;
    return html`
      <p class="heard" role="status">${this.said}</p>
      ${
        this.chips.length
          ? html`<ul aria-label=${w.files}>
              ${repeat(
                this.chips,
                (chip) => chip.key,
                (chip) => this.chip(chip),
              )}
            </ul>`
          : nothing
      }
      ${this.over ? html`<p class="bad" role="alert">${w.tooMany(MOST)}</p>` : nothing}
    `;
  }

  private get w(): FileWords {
    return FILE_WORDS[this.locale];
  }

  private chip(chip: Chip): TemplateResult {
    const { w } = this;
    return html`
      <li class=${chip.failed ? 'bad' : ''}>
        ${icons.file}
        <span class="title" dir="auto" title=${chip.title} role=${chip.failed ? 'alert' : nothing}>
          ${chip.failed ? w.failed(chip.title, w.reasons[chip.failed]) : chip.title}
        </span>
        ${chip.id === null && !chip.failed ? html`<span class="muted">${w.reading}</span>` : nothing}
        <button type="button" class="tool" aria-label=${w.remove(chip.title)} title=${w.remove(chip.title)}
          @click=${() => this.drop(chip)}>
          ${icons.close}
        </button>
      </li>
    `;
  }
}

/** What an error of the server means for a file. */
export function reasonOf(error: unknown): Reason {
  if (!(error instanceof ApiError)) return 'other';
  if (error.status === 413) return 'tooLarge';
  if (error.status === 429 || error.reason === 'too_many_files') return 'full';
  if (error.status === 415 || error.status === 422) return 'unreadable';
  return [403, 404, 405].includes(error.status) ? 'notHere' : 'other';
}

define('assistant-files', AssistantFiles);
