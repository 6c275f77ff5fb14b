/** `<assistant-audit>`: what was answered, on what it rested, whether the log is what was written. For auditors. */

import { html, LitElement, nothing, type PropertyDeclarations, type TemplateResult, unsafeCSS } from 'lit';

import { tokenFrom, type GetToken } from '../access';
import { define } from '../components/define';
import { sheets } from '../components/sheets';
import { home } from '../home';
import { pickLocale, words, type Locale } from '../i18n';
import { Memory } from '../memory';
import { AuditApi } from './api';
import { on } from './events';
import { filterForm } from './filter-form';
import { DEFAULTS, fromFragment, same, toFragment, type Filters } from './filters';
import { Listing } from './listing';
import { exportedNotice, failureText, verifiedNotice } from './notices';
import { Office } from './office';
import { reasonForm } from './reason-form';
import { Rulings } from './rulings';
import sheet from './styles/audit.css?inline';
import shared from './styles/shared.css?inline';
import { recordTable } from './table';
import { Visitor } from './visitor';
import { auditWords, type AuditWords } from './words';

export class AssistantAudit extends LitElement {
  static override properties: PropertyDeclarations = {
    src: {},
    tokenUrl: { attribute: 'token-url' },
    getToken: { attribute: false },
    locale: { reflect: true },
    figuresOpen: { state: true },
    asking: { state: true },
  };
  static override styles = [sheets.tokens, sheets.base, unsafeCSS(shared), unsafeCSS(sheet)];
  /** The server's address; where the script came from when it is empty. */
  declare src: string;
  /** An address of a portal that answers `{token}` to its signed-in user; `getToken` says the same as a callback. */
  declare tokenUrl: string;
  declare getToken: GetToken | null;
  declare locale: Locale;
  declare figuresOpen: boolean;
  /** What is done as soon as there is a reason; null while nothing waits for one. */
  declare asking: (() => void) | null;
  private filters: Filters = DEFAULTS;
  private memory!: Memory;
  private visitor!: Visitor;
  private listing!: Listing;
  private office!: Office;
  private rulings!: Rulings;
  /** Why this person looks; it is kept for this visit only. */
  private reason = '';
  private opener: string | null = null;
  private readonly moved = (): void => this.look(fromFragment(location.hash));

  constructor() {
    super();
    this.src = '';
    this.tokenUrl = '';
    this.getToken = null;
    this.figuresOpen = false;
    this.asking = null;
  }

  // ---- life -----------------------------------------------------------------------------------------------------

  override connectedCallback(): void {
    super.connectedCallback();
    const base = this.src.replace(/\/$/, '') || home;
    this.visitor = new Visitor(base, () => this.getToken ?? (this.tokenUrl ? tokenFrom(this.tokenUrl) : null));
    const api = new AuditApi(base, this.visitor.token);
    const changed = (): void => this.requestUpdate();
    this.memory = new Memory(base);
    this.locale = this.locale ?? this.memory.locale() ?? pickLocale(navigator.languages);
    this.listing = new Listing(api, changed);
    this.office = new Office(api, changed);
    this.rulings = new Rulings(api, () => this.visitor.roles(), changed);
    window.addEventListener('hashchange', this.moved);
    this.filters = fromFragment(location.hash);
    void this.listing.look(this.filters);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener('hashchange', this.moved);
  }

  override updated(): void {
    this.lang = this.locale === 'zh' ? 'zh-CN' : 'en';
    const dialog = this.renderRoot.querySelector('dialog');
    if (dialog && this.asking && !dialog.open) dialog.showModal();
    if (dialog?.open && !this.asking) dialog.close();
  }

  // ---- view -----------------------------------------------------------------------------------------------------

  override render(): TemplateResult {
    const { w, listing } = this;
    if (listing.failed === 'nothing') return html`<main class="page"><p class="nothing">${w.nothing}</p></main>`;
    if (listing.failed === 'signedOut') return this.signedOut();
    const { opened } = this.office;
    return html`
      <main
        class="page"
        @open-record=${on('open-record', (id) => this.open(id))}
        @close-record=${on('close-record', () => this.close())}
        @answer-again=${on('answer-again', ({ record, model }) => this.withReason((reason) => void this.rulings.replay(record, model, reason)))}
        @adopt-correction=${on('adopt-correction', (id) => this.withReason((reason) => void this.rulings.adopt(id, reason)))}
        @keydown=${this.key}
      >
        ${this.header()} ${verifiedNotice(this.office, w)} ${exportedNotice(this.office, w)}
        <div ?hidden=${opened !== null}>${this.list()}</div>
        ${opened ? this.record() : nothing}
        ${
          this.office.openFailed
            ? html`<p class="note bad" role="alert">${this.office.openFailed === 'nothing' ? w.gone : failureText(this.office.openFailed, w)}</p>`
            : nothing
        }
      </main>
      ${reasonForm({
        w,
        reason: this.reason,
        given: (reason) => this.given(reason),
        cancel: () => void (this.asking = null),
      })}
    `;
  }

  private get w(): AuditWords {
    return auditWords(this.locale);
  }

  private signedOut(): TemplateResult {
    const { w } = this;
    const address = this.visitor.signIn();
    return html`<main class="page">
      <p class="nothing">${w.signedOut} ${address ? html`<a href=${address}>${w.signIn}</a>` : nothing}</p>
    </main>`;
  }

  private header(): TemplateResult {
    const { w, office, locale } = this;
    return html`
      <header>
        <h1>${w.title}</h1>
        <button class="text-button" aria-disabled=${office.verifying === null ? 'false' : 'true'} @click=${() => void office.verify()}>${w.verify}</button>
        <button
          class="text-button"
          aria-disabled=${office.exporting === 'running' ? 'true' : 'false'}
          @click=${() => this.withReason((reason) => void office.export(this.filters, reason))}
        >
          ${w.export}
        </button>
        <button class="text-button" lang=${locale === 'zh' ? 'en' : 'zh-CN'} @click=${this.switchLanguage}>
          ${words(locale).other}
        </button>
      </header>
      ${
        this.reason
          ? html`<p class="reason">
              ${w.reasonOf} <q dir="auto">${this.reason}</q>
              <button class="text-button" @click=${() => void (this.asking = () => undefined)}>${w.reasonChange}</button>
            </p>`
          : nothing
      }
    `;
  }

  private list(): TemplateResult {
    const { w, listing, locale } = this;
    return html`
      ${filterForm({ locale, filters: this.filters, apply: (to) => this.go(to), clear: () => this.go(DEFAULTS) })}
      <details class="figures" ?open=${this.figuresOpen} @toggle=${this.toggleFigures}>
        <summary>${w.figures}</summary>
        ${this.figuresOpen ? this.figures() : nothing}
      </details>
      <h2>${w.records} <small role="status">${listing.loading ? w.loading : w.shown(listing.records.length)}</small></h2>
      ${
        listing.records.length
          ? recordTable({
              locale,
              records: listing.records,
              questions: this.office.questions,
              broken: this.office.verified?.seq ?? null,
              open: (id) => this.open(id),
            })
          : nothing
      }
      ${this.end()}
    `;
  }

  /** What stands below the table. */
  private end(): TemplateResult {
    const { w, listing } = this;
    if (listing.failed) {
      return html`<p class="note bad" role="alert">
        ${failureText(listing.failed, w)}
        <button class="text-button" @click=${() => void listing.more()}>${w.tryAgain}</button>
      </p>`;
    }
    if (listing.loading) return html`<p class="muted">${w.loading}</p>`;
    if (!listing.records.length) return html`<p class="muted">${w.none}</p>`;
    return listing.next === null
      ? html`<p class="muted">${w.noMore}</p>`
      : html`<button class="text-button" @click=${() => void listing.more()}>${w.more}</button>`;
  }

  private figures(): TemplateResult {
    const { w, listing } = this;
    if (listing.figuresFailed === 'refused') return html`<p class="note bad">${w.refused} ${w.figuresLong}</p>`;
    if (listing.figuresFailed) return html`<p class="note bad">${failureText(listing.figuresFailed, w)}</p>`;
    if (!listing.figures) return html`<p class="muted">${w.loading}</p>`;
    return html`<assistant-audit-charts .figures=${listing.figures} locale=${this.locale}></assistant-audit-charts>`;
  }

  private record(): TemplateResult {
    const { office } = this;
    return html`<assistant-audit-record
      .opened=${office.opened}
      .remarks=${office.remarks}
      .others=${office.others}
      .verified=${office.verified}
      .rulings=${this.rulings.state}
      locale=${this.locale}
    ></assistant-audit-record>`;
  }

  // ---- acts -----------------------------------------------------------------------------------------------------

  /** Filters stand in the fragment; going back in the browser brings the former ones back. */
  private go(to: Filters): void {
    const fragment = toFragment(to);
    if (fragment === location.hash.replace(/^#/, '')) this.look(to, true);
    else location.hash = fragment;
  }

  private look(to: Filters, again = false): void {
    if (same(to, this.filters) && !again) return;
    this.filters = to;
    void this.listing.look(to);
    if (this.figuresOpen) void this.listing.count(to);
    this.requestUpdate();
  }

  private toggleFigures(event: Event): void {
    const { open } = event.target as HTMLDetailsElement;
    if (open === this.figuresOpen) return;
    this.figuresOpen = open;
    if (!open) return;
    void import('./charts');
    void this.listing.count(this.filters);
  }

  private open(id: string): void {
    this.withReason((reason) => {
      if (!this.office.opened) this.opener = id;
      void import('./record');
      void this.office.open(id, reason);
      void this.rulings.meet();
    });
  }

  /** Back to the list, to where the record was opened. */
  private close(): void {
    this.office.close();
    void this.updateComplete.then(() => {
      const buttons = this.renderRoot.querySelectorAll<HTMLElement>('[data-record]');
      [...buttons].find((button) => button.dataset['record'] === this.opener)?.focus();
    });
  }

  private key(event: KeyboardEvent): void {
    if (event.key === 'Escape' && this.office.opened) this.close();
  }

  private withReason(act: (reason: string) => void): void {
    if (this.reason) act(this.reason);
    else this.asking = () => act(this.reason);
  }

  private given(reason: string): void {
    const act = this.asking;
    this.reason = reason;
    this.asking = null;
    act?.();
  }

  private switchLanguage(): void {
    this.locale = this.locale === 'zh' ? 'en' : 'zh';
    this.memory.rememberLocale(this.locale);
  }
}

define('assistant-audit', AssistantAudit);
