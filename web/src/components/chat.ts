/** The whole assistant: conversations, the conversation, the composer, and the source beside it. */

import { html, LitElement, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult, unsafeCSS } from 'lit';

import { tokenFrom, type GetToken } from '../access';
import type { Ask } from '../connection';
import { home } from '../home';
import { pickLocale, words, type Locale, type Words } from '../i18n';
import { withoutMarkup } from '../plain';
import type { ChatState, TurnState } from '../reducer';
import { Service } from '../service';
import './composer';
import { define } from './define';
import { Dropping } from './dropping';
import { on } from './events';
import { Finished } from './finished';
import { deepActive } from './focus';
import { atEnd, Following } from './following';
import { header } from './header';
import sheet from '../styles/chat.css?inline';
import corner from '../styles/launcher.css?inline';
import { latest } from './latest';
import { launcher } from './launcher';
import { lineNote } from './line';
import { aboutSource, type OpenSource } from './open-source';
import { sheets } from './sheets';
import { plainly, thread } from './thread';
import { Watching } from './watching';
import { welcome } from './welcome';
import type { AssistantComposer } from './composer';
import type { AssistantConversations } from './conversations';

/** Narrower than this the source covers the conversation. */
const PANEL_BESIDE_PX = 1000;

/** Properties that say which server is asked, and for whom. */
const SERVED = ['src', 'getToken', 'tokenUrl'] as const;

export type Display = 'launcher' | 'inline' | 'page';

export class AssistantChat extends LitElement {
  static override properties: PropertyDeclarations = {
    display: { reflect: true },
    src: {},
    session: {},
    theme: { reflect: true },
    tokenUrl: { attribute: 'token-url' },
    getToken: { attribute: false },
    locale: { reflect: true },
    heading: {},
    open: { type: Boolean, reflect: true },
    listOpen: { state: true },
    source: { state: true },
    stopping: { state: true },
    atEnd: { state: true },
    said: { state: true },
    modal: { state: true },
    revision: { state: true },
  };
  static override styles = [sheets.tokens, sheets.base, unsafeCSS(sheet), unsafeCSS(corner)];
  /** A button in the corner that opens the chat, a part of the page, or all of it. */
  declare display: Display;
  /** Address of the server; empty for the one that this script came from. */
  declare src: string;
  /** The conversation to open; empty for the last one. */
  declare session: string;
  /** `light`, `dark`, or as the system has it. */
  declare theme: string;
  /** Address of the portal that answers `{token}`, for portals without a callback. */
  declare tokenUrl: string;
  /** Gives a token of the portal for its user, a new one at each call. */
  declare getToken: GetToken | null;
  declare locale: Locale;
  declare heading: string;
  /** Whether the panel of the launcher is open. */
  declare open: boolean;
  declare listOpen: boolean;
  declare source: OpenSource | null;
  declare stopping: string | null;
  declare atEnd: boolean;
  declare said: string;
  declare modal: boolean;
  /** Counts what may have changed the list of conversations. */
  declare revision: number;
  private service!: Service;
  /** A launcher asks nothing of the server before it is opened for the first time. */
  private started = false;
  private readonly finished = new Finished();
  private readonly following = new Following();
  private readonly watching = new Watching(
    (session) => this.service.api.sources(session),
    (told, found) => this.service.connection.learn(told, found),
  );
  private readonly dropping = new Dropping(
    (files) => void this.composer?.attach(files),
    () => this.requestUpdate(),
  );
  private opener: HTMLElement | null = null;

  constructor() {
    super();
    Object.assign(this, { display: 'inline', src: '', session: '', tokenUrl: '', getToken: null, heading: '' });
    Object.assign(this, { open: false, listOpen: false, source: null, stopping: null, atEnd: true, said: '' });
    Object.assign(this, { modal: false, revision: 0 });
  }

  // ---- life -----------------------------------------------------------------------------------------------------

  override connectedCallback(): void {
    super.connectedCallback();
    this.serve();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.service.stop();
    this.started = false;
  }

  /** Put the cursor where a question is written. */
  override focus(): void {
    void this.updateComplete.then(() => this.composer?.focus());
  }

  /** Turn to the server that `src` names. */
  private serve(): void {
    this.service?.stop();
    this.service = new Service(this.src.replace(/\/$/, '') || home, {
      portal: () => this.getToken ?? (this.tokenUrl ? tokenFrom(this.tokenUrl) : null),
      locale: () => this.locale,
      changed: () => this.requestUpdate(),
    });
    this.locale = pickLocale([this.locale ?? this.service.memory.locale() ?? '', ...navigator.languages]);
    this.started = this.display !== 'launcher' || this.open;
    if (!this.started) return;
    void import('./turn');
    void import('./conversations');
    this.service.start(this.session || this.service.memory.session());
  }

  // ---- what follows from a change -------------------------------------------------------------------------------

  override willUpdate(changed: PropertyValues<this>): void {
    if (this.hasUpdated && SERVED.some((name) => changed.has(name))) this.serve();
    else if (!this.started && this.open) this.serve();
    else if (this.hasUpdated && changed.has('session') && this.session) this.switchTo(this.session);
    if (changed.has('locale')) this.locale = pickLocale([this.locale]);
    this.lang = this.locale === 'zh' ? 'zh-CN' : 'en';
    const { sessionId, turns } = this.state;
    if (sessionId && turns.length) this.service.memory.rememberSession(sessionId);
    if (this.stopping && turns.find((turn) => turn.turn === this.stopping)?.status !== 'running') this.stopping = null;
    this.watching.look(this.state);
    this.announce(turns);
  }

  override updated(changed: PropertyValues<this>): void {
    // Inner elements draw after this one.
    if (!changed.has('source')) requestAnimationFrame(() => this.follow());
  }

  private follow(): void {
    const last = this.renderRoot.querySelector('.thread > :last-child');
    if (!this.area || !last) return;
    this.following.follow(this.area, last);
    this.atEnd = atEnd(this.area);
  }

  private scrolled(): void {
    if (!this.area) return;
    this.following.scrolled(this.area);
    this.atEnd = atEnd(this.area);
  }

  /** Say each change of a source, and each answer when it is finished. */
  private announce(turns: readonly TurnState[]): void {
    const news = this.watching.news(this.state, this.w);
    for (const turn of this.finished.take(turns, this.service.connection.link.kind === 'live')) {
      news.push(`${this.w.answerReady} ${withoutMarkup(turn.text)}`);
      this.revision++;
    }
    if (news.length) this.said = news.join(' ');
  }

  // ---- drawing --------------------------------------------------------------------------------------------------

  override render(): TemplateResult {
    if (this.display !== 'launcher') return this.frame();
    const inside = this.started ? this.frame() : '';
    return launcher(this.open, this.name, this.w, inside, (open) => void this.toggle(open));
  }

  private frame(): TemplateResult {
    const { w, dropping } = this;
    const { turns, pending, need } = this.state;
    const { sentence, fate } = aboutSource(turns, this.source);
    const beside = this.source && !this.modal ? `source-open ${fate ?? ''}` : '';
    const empty = !turns.length && !pending.length && need !== 'reload';
    const examples = this.service.config?.examples ?? [];
    return html`
      <div class="frame ${this.listOpen ? 'list-open' : ''} ${beside}" part="frame">
        ${this.list()}
        <div class="shade" @click=${() => (this.listOpen = false)}></div>
        <section
          class="middle"
          role=${this.display === 'page' ? 'main' : nothing}
          @dragover=${dropping.dragged}
          @dragleave=${dropping.left}
          @drop=${dropping.dropped}
        >
          ${this.header()}
          <div class="scroll" role="region" aria-label=${w.conversation} tabindex="0" @scroll=${this.scrolled}>
            ${empty ? welcome(examples, w, (text) => this.ask(plainly(text))) : this.thread()}
          </div>
          ${this.bottom()}
          <div class="heard" aria-live="polite">${this.said}</div>
        </section>
        <assistant-source
          .citation=${this.source?.citation ?? null}
          .turn=${this.source?.turn ?? ''}
          .loads=${this.service.loads}
          .fate=${fate}
          sentence=${sentence}
          locale=${this.locale}
          ?modal=${this.modal}
          @close-source=${this.closeSource}
        ></assistant-source>
      </div>
    `;
  }

  private get w(): Words {
    return words(this.locale);
  }

  private get state(): ChatState {
    return this.service.connection.state;
  }

  private get name(): string {
    return this.heading || this.service.config?.title || '';
  }

  private list(): TemplateResult {
    return html`<nav id="list" part="list" aria-label=${this.w.conversations} @keydown=${this.listKey}>
      <assistant-conversations
        .api=${this.service.api}
        .current=${this.state.sessionId}
        .revision=${this.revision}
        locale=${this.locale}
        @open-conversation=${on('open-conversation', ({ id }) => this.switchTo(id))}
        @signed-out=${() => this.service.refused()}
        @conversation-removed=${on('conversation-removed', ({ id }) => this.removed(id))}
      ></assistant-conversations>
    </nav>`;
  }

  private header(): TemplateResult {
    return header({
      w: this.w,
      locale: this.locale,
      title: this.name,
      model: this.service.config?.model ?? null,
      listOpen: this.listOpen,
      toggleList: () => void this.toggleList(),
      switchLanguage: () => this.switchLanguage(),
      start: () => this.switchTo(null),
    });
  }

  private thread(): TemplateResult {
    const { connection, loads } = this.service;
    return thread({
      ...this.state,
      locale: this.locale,
      loads,
      source: this.source,
      openSource: (detail) => this.openSource(detail),
      ask: (question) => this.ask(question),
      rate: ({ d, noted }) => connection.feedback(d, noted),
      discard: (id) => connection.discard(id),
    });
  }

  private bottom(): TemplateResult {
    const { w, service } = this;
    const { config, connection, signedOut } = service;
    return html`
      <div class="bottom">
        ${latest(this.atEnd, w, () => this.area && this.following.jump(this.area))}
        ${lineNote({ link: connection.link, signedOut, signIn: service.signIn(), retry: () => this.retry() }, w)}
        <assistant-composer
          exportparts="composer"
          locale=${this.locale}
          .collections=${config?.collections ?? []}
          .modes=${config?.modes ?? Object.keys(w.modes)}
          .filing=${config?.files === 0 ? null : service.filing}
          ?dropping=${this.dropping.over}
          ?running=${this.running() !== undefined}
          ?stopping=${this.stopping !== null}
          @ask=${on('ask', (detail) => this.ask(detail))}
          @typing=${() => connection.warm()}
          @stop=${this.stop}
        ></assistant-composer>
      </div>
    `;
  }

  // ---- doing ----------------------------------------------------------------------------------------------------

  private running(): TurnState | undefined {
    return this.state.turns.findLast((turn) => turn.status === 'running');
  }

  private ask(question: Ask): void {
    this.following.restart();
    this.service.connection.ask(question);
    this.composer?.focus();
  }

  private retry(): void {
    this.service.again();
    this.revision++;
  }

  private stop(): void {
    const turn = this.running()?.turn;
    if (!turn) return;
    this.stopping = turn;
    this.service.connection.cancel(turn);
  }

  private switchTo(session: string | null): void {
    Object.assign(this, { listOpen: false, source: null, atEnd: true });
    this.following.restart(0);
    this.service.memory.rememberSession(session);
    this.service.connection.open(session);
    this.composer?.forgetFiles();
    this.composer?.focus();
  }

  /** What is shown of a conversation that was deleted goes away; the cursor stays in the list. */
  private removed(session: string): void {
    if (session !== this.state.sessionId) return;
    this.source = null;
    this.service.memory.rememberSession(null);
    this.service.connection.open(null);
    this.composer?.forgetFiles();
  }

  private switchLanguage(): void {
    this.locale = this.locale === 'zh' ? 'en' : 'zh';
    this.service.memory.rememberLocale(this.locale);
  }

  private async toggle(open: boolean): Promise<void> {
    this.open = open;
    await this.updateComplete;
    if (open) this.focus();
    else this.renderRoot.querySelector<HTMLElement>('.knob')?.focus();
  }

  private async toggleList(): Promise<void> {
    this.listOpen = !this.listOpen;
    await this.updateComplete;
    if (this.listOpen) this.renderRoot.querySelector<AssistantConversations>('assistant-conversations')?.focus();
  }

  private listKey(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || !this.listOpen) return;
    event.stopPropagation();
    this.listOpen = false;
    this.renderRoot.querySelector<HTMLElement>('.menu')?.focus();
  }

  // ---- the source -----------------------------------------------------------------------------------------------

  private openSource(open: OpenSource): void {
    void import('./source');
    this.opener = deepActive();
    this.modal = (this.renderRoot.querySelector('.frame')?.clientWidth ?? 0) < PANEL_BESIDE_PX;
    this.source = open;
  }

  private closeSource(): void {
    this.source = null;
    this.opener?.focus();
    this.opener = null;
  }

  private get composer(): AssistantComposer | null {
    return this.renderRoot.querySelector('assistant-composer');
  }

  private get area(): HTMLElement | null {
    return this.renderRoot.querySelector('.scroll');
  }
}

define('assistant-chat', AssistantChat);
