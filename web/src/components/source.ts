/** The passage behind a citation, highlighted within its surroundings, with what is known about its document. */

import {
  html,
  LitElement,
  nothing,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
  unsafeCSS,
} from 'lit';

import type { CitedPassage } from '../api';
import { dayText, sectionText, words, type Locale, type Words } from '../i18n';
import { safeTarget } from '../links';
import type { Loads } from '../loads';
import type { Citation } from '../protocol';
import { define } from './define';
import { icons } from './icons';
import sheet from '../styles/source.css?inline';
import { sheets } from './sheets';

/**
 * The quote of this citation within the passage that was loaded: the passage can be longer than what this sentence
 * rests on. When the quote is not in it, the passage's own exact text is highlighted.
 */
export function locate(passage: CitedPassage, exact: string): { before: string; exact: string; after: string } {
  const whole = passage.before + passage.exact + passage.after;
  const near = Math.max(0, passage.before.length - exact.length);
  const at = exact ? whole.indexOf(exact, near) : -1;
  if (at < 0) return { before: passage.before, exact: passage.exact, after: passage.after };
  return { before: whole.slice(0, at), exact, after: whole.slice(at + exact.length) };
}

const NEARBY = 320;

/** The last sentences of a text, at most about `NEARBY` letters of it, from the start of a line or sentence. */
export function endOf(text: string): string {
  if (text.length <= NEARBY) return text;
  const part = text.slice(-NEARBY);
  const start = /[\n。！？]|[.!?]\s/u.exec(part);
  return `… ${part.slice(start ? start.index + 1 : part.indexOf(' ') + 1).trimStart()}`;
}

/** The first sentences of a text, at most about `NEARBY` letters of it, to the end of a line or sentence. */
export function startOf(text: string): string {
  if (text.length <= NEARBY) return text;
  const part = text.slice(0, NEARBY);
  const whole =
    /^[\s\S]*(?:[。！？]|[.!?](?=\s)|(?=\n))/u.exec(part)?.[0] ?? part.slice(0, part.lastIndexOf(' ') + 1 || NEARBY);
  return `${whole.trimEnd()} …`;
}

export class AssistantSource extends LitElement {
  static override properties: PropertyDeclarations = {
    citation: { attribute: false },
    sentence: {},
    turn: {},
    loads: { attribute: false },
    locale: {},
    modal: { type: Boolean },
    passage: { state: true },
    whole: { state: true },
    failed: { state: true },
  };
  static override styles = [sheets.base, unsafeCSS(sheet)];
  declare citation: Citation | null;
  declare sentence: string;
  /** The turn whose citation this is. */
  declare turn: string;
  declare loads: Loads;
  declare locale: Locale;
  /** Whether the panel covers the conversation and keeps the focus. */
  declare modal: boolean;
  declare passage: CitedPassage | null;
  declare failed: boolean;
  /** Whether all of the passage is shown, not only what is near the quote. */
  declare whole: boolean;

  constructor() {
    super();
    this.citation = null;
    this.sentence = '';
    this.turn = '';
    this.modal = false;
    this.passage = null;
    this.failed = false;
    this.whole = false;
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('citation') && this.citation) void this.fetchPassage(this.citation);
  }

  override updated(changed: PropertyValues<this>): void {
    const { dialog } = this;
    if (changed.has('citation')) {
      if (this.citation && !dialog.open) this.show();
      if (this.citation) this.renderRoot.querySelector<HTMLElement>('h2')?.focus();
      if (!this.citation && dialog.open) dialog.close();
    }
  }

  override render(): TemplateResult {
    const { citation, w } = this;
    return html`
      <dialog aria-labelledby="title" @close=${this.closed} @keydown=${this.key} @click=${this.backdrop}>
        ${citation ? this.content(citation, w) : nothing}
      </dialog>
    `;
  }

  private get w(): Words {
    return words(this.locale);
  }

  private get dialog(): HTMLDialogElement {
    return this.renderRoot.querySelector('dialog')!;
  }

  private show(): void {
    if (this.modal) this.dialog.showModal();
    else this.dialog.show();
  }

  private content(citation: Citation, w: Words): TemplateResult {
    const { source } = citation;
    const section = sectionText(source.title, source.section);
    return html`
      <header>
        <span class="n" aria-hidden="true">${citation.n}</span>
        <h2 id="title" tabindex="-1"><span class="heard">${w.source(citation.n, '')}</span>${source.title}</h2>
        <button class="tool" aria-label=${w.close} title=${w.close} @click=${() => this.dialog.close()}>
          ${icons.close}
        </button>
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
        <h3>${w.passage}</h3>
        ${this.quote(citation, w)} ${this.picture(citation)} ${this.place(source.uri, w)}
      </div>
    `;
  }

  private stateNote(w: Words): TemplateResult | typeof nothing {
    const state = this.passage?.state;
    return state ? html`<p class="state ${state}">${w.sourceState[state] ?? ''}</p>` : nothing;
  }

  private quote(citation: Citation, w: Words): TemplateResult {
    const plain = { before: '', exact: citation.source.exact, after: '' };
    const { before, exact, after } = this.passage ? locate(this.passage, citation.source.exact) : plain;
    const [lead, tail] = this.whole ? [before, after] : [endOf(before), startOf(after)];
    return html`
      <blockquote dir="auto">${lead}<mark>${exact}</mark>${tail}</blockquote>
      ${
        lead === before && tail === after
          ? nothing
          : html`<button class="text-button" @click=${() => (this.whole = true)}>${w.wholePassage}</button>`
      }
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

  private place(uri: string, w: Words): TemplateResult {
    const target = safeTarget(uri);
    return target
      ? html`<p class="place">
          <a href=${target.href} target="_blank" rel="noopener noreferrer">${w.openDocument}</a> ${target.host}
        </p>`
      : html`<p class="place">${icons.file}${uri}</p>`;
  }

  private async fetchPassage(citation: Citation): Promise<void> {
    this.passage = null;
    this.failed = false;
    this.whole = false;
    try {
      const passage = await this.loads.passage(this.turn, citation);
      if (this.citation === citation) this.passage = passage;
    } catch {
      if (this.citation === citation) this.failed = true;
    }
  }

  private key(event: KeyboardEvent): void {
    if (event.key !== 'Escape') return;
    // A dialog that is not modal does not close by itself, and what lies around it is not meant.
    event.stopPropagation();
    event.preventDefault();
    this.dialog.close();
  }

  private backdrop(event: Event): void {
    if (this.modal && event.target === this.dialog) this.dialog.close();
  }

  private closed(): void {
    this.dispatchEvent(new CustomEvent('close-source'));
  }
}

define('assistant-source', AssistantSource);
