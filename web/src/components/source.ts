/** The passage behind a citation as it was, what became of it since, and what is known about its document. */

import {
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
  unsafeCSS,
} from 'lit';

import { ApiError } from '../api';
import type { Fate } from '../fates';
import { dayText, sectionText, type Locale } from '../i18n';
import { safeTarget } from '../links';
import type { Loads } from '../loads';
import type { PastSource } from '../past-source';
import type { Citation, SourceState } from '../protocol';
import { locate } from '../quoted';
import { sourceWords, type SourceWords } from '../words/source';
import { define } from './define';
import { icons } from './icons';
import { bothPassages, passage } from './passages';
import sheet from '../styles/source.css?inline';
import { sheets } from './sheets';

export class AssistantSource extends LitElement {
  static override properties: PropertyDeclarations = {
    citation: { attribute: false },
    sentence: {},
    turn: {},
    fate: { attribute: false },
    loads: { attribute: false },
    locale: {},
    modal: { type: Boolean },
    alone: { type: Boolean },
    past: { state: true },
    whole: { state: true },
    failed: { state: true },
  };
  static override styles = [sheets.base, unsafeCSS(sheet)];
  declare citation: Citation | null;
  declare sentence: string;
  /** The turn whose citation this is. */
  declare turn: string;
  /** What has been told of this source; another word means that it is to be looked at again. */
  declare fate: Fate | null;
  declare loads: Loads;
  declare locale: Locale;
  /** Whether the panel covers the conversation and keeps the focus. */
  declare modal: boolean;
  /** Whether it is a part of a page, not a panel that opens and closes. */
  declare alone: boolean;
  declare past: PastSource | null;
  /** Why there is no passage: `gone` for what the server does not show now. */
  declare failed: 'gone' | 'failed' | null;
  /** Whether all of the passage is shown, not only what is near the quote. */
  declare whole: boolean;
  private asked = 0;

  constructor() {
    super();
    this.citation = null;
    this.sentence = '';
    this.turn = '';
    this.modal = false;
    this.alone = false;
    this.fate = null;
    this.past = null;
    this.failed = null;
    this.whole = false;
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('citation')) this.forget();
    if ((changed.has('citation') || changed.has('fate')) && this.citation) void this.load(this.citation);
  }

  override updated(changed: PropertyValues<this>): void {
    const { dialog } = this;
    if (dialog && changed.has('citation')) {
      if (this.citation && !dialog.open) this.show(dialog);
      if (this.citation) this.renderRoot.querySelector<HTMLElement>('h2')?.focus();
      if (!this.citation && dialog.open) dialog.close();
    }
  }

  override render(): TemplateResult {
    const { citation, w } = this;
    if (this.alone) return html`<section aria-labelledby="title">${citation ? this.content(citation, w) : nothing}</section>`;
    return html`
      <dialog aria-labelledby="title" @close=${this.closed} @keydown=${this.key} @click=${this.backdrop}>
        ${citation ? this.content(citation, w) : nothing}
      </dialog>
    `;
  }

  private get w(): SourceWords {
    return sourceWords(this.locale);
  }

  private get dialog(): HTMLDialogElement | null {
    return this.renderRoot.querySelector('dialog');
  }

  private show(dialog: HTMLDialogElement): void {
    if (this.modal) dialog.showModal();
    else dialog.show();
  }

  private content(citation: Citation, w: SourceWords): TemplateResult {
    const { source } = citation;
    const section = sectionText(source.title, source.section);
    return html`
      <header role="none">
        <span class="n" aria-hidden="true">${citation.n}</span>
        <h2 id="title" tabindex="-1"><span class="heard">${w.source(citation.n, '')}</span>${source.title}</h2>
        ${this.alone ? nothing : this.closeButton(w)}
      </header>
      <div class="body">
        ${section ? html`<p class="section">${section}</p>` : nothing}
        <p class="facts">
          <span>${w.version(source.version)}</span>
          <span>${source.date ? dayText(this.locale, source.date) : w.undated}</span>
          <span>${w.authority[source.authority] ?? ''}</span>
          ${source.page ? html`<span>${w.page(source.page)}</span>` : nothing}
        </p>
        ${this.stateNote(w)}
        ${
          this.sentence
            ? html`<h3>${w.restsOn}</h3>
                <p class="sentence" dir="auto">
                  ${this.sentence} <em class=${citation.verdict}>${w.verdicts[citation.verdict]}</em>
                </p>`
            : nothing
        }
        ${this.gone ? nothing : this.text(citation, w)}
      </div>
    `;
  }

  private closeButton(w: SourceWords): TemplateResult {
    return html`<button class="tool" aria-label=${w.close} title=${w.close} @click=${() => this.dialog?.close()}>
      ${icons.close}
    </button>`;
  }

  private text(citation: Citation, w: SourceWords): TemplateResult {
    return html`
      <h3>${w.passage}</h3>
      ${this.quote(citation, w)} ${this.picture(citation)} ${this.place(citation.source.uri, w)}
    `;
  }

  /** Whether the server no longer shows this source to this person; then nothing of its text is shown here either. */
  private get gone(): boolean {
    return this.fate === 'not_available' || this.failed === 'gone';
  }

  private stateNote(w: SourceWords): TemplateResult | typeof nothing {
    const state: SourceState | undefined = this.gone ? 'not_available' : this.past?.state;
    if (!state) return nothing;
    const { current } = this.past ?? {};
    const newer = state === 'same_text' && current ? ` (${this.edition(current.version, current.date, w)})` : '';
    return html`<p class="state ${state}" role="status">${w.sourceState[state]}${newer}</p>`;
  }

  private edition(version: number, date: string | null, w: SourceWords): string {
    return `${w.version(version)}, ${date ? dayText(this.locale, date) : w.undated}`;
  }

  private quote(citation: Citation, w: SourceWords): TemplateResult {
    const { past, locale, whole } = this;
    const { exact } = citation.source;
    const then = past ? locate(past.quoted, exact) : { before: '', exact, after: '' };
    const more = (): void => void (this.whole = true);
    const both = past?.state === 'changed' && past.current;
    return html`
      ${both ? bothPassages(past, then, locale, whole, more) : passage(then, locale, whole, more)}
      ${this.failed ? html`<p class="state changed" role="status">${w.passageFailed}</p>` : nothing}
    `;
  }

  /** The image that the quoted text stands for, where there is one. */
  private picture({ source }: Citation): TemplateResult | typeof nothing {
    if (!source.image) return nothing;
    void import('./picture');
    return html`<assistant-picture
      image=${source.image}
      turn=${this.turn}
      caption=${source.exact}
      .region=${source.region ?? null}
      .loads=${this.loads}
      locale=${this.locale}
    ></assistant-picture>`;
  }

  private place(uri: string, w: SourceWords): TemplateResult {
    const target = safeTarget(uri);
    return target
      ? html`<p class="place">
          <a href=${target.href} target="_blank" rel="noopener noreferrer">${w.openDocument}</a> ${target.host}
        </p>`
      : html`<p class="place">${icons.file}${uri}</p>`;
  }

  private forget(): void {
    this.past = null;
    this.failed = null;
    this.whole = false;
  }

  /** The last question counts: an earlier one about the same source may be answered later. */
  private async load(citation: Citation): Promise<void> {
    const number = ++this.asked;
    const settle = (past: PastSource | null, failed: 'gone' | 'failed' | null): void => {
      if (this.citation === citation && this.asked === number) Object.assign(this, { past, failed });
    };
    try {
      settle(await this.loads.source(this.turn, citation), null);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) settle(null, 'gone');
      else settle(this.past, 'failed');
    }
  }

  private key(event: KeyboardEvent): void {
    if (event.key !== 'Escape') return;
    // A dialog that is not modal does not close by itself, and what lies around it is not meant.
    event.stopPropagation();
    event.preventDefault();
    this.dialog?.close();
  }

  private backdrop(event: Event): void {
    if (this.modal && event.target === this.dialog) this.dialog?.close();
  }

  private closed(): void {
    this.dispatchEvent(new CustomEvent('close-source'));
  }
}

define('assistant-source', AssistantSource);
