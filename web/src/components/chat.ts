/** The whole assistant: conversations, the conversation, the composer, and the source beside it. */

import { html, LitElement, type PropertyDeclarations, type PropertyValues, type TemplateResult, unsafeCSS } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

import { Api, ApiError, type Config, type ConversationItem, type TokenSource } from '../api';
import { browser } from '../browser';
import { Connection } from '../connection';
import { home } from '../home';
import { pickLocale, words, type Locale, type Words } from '../i18n';
import { loadsOf, type Loads } from '../loads';
import { Memory } from '../memory';
import { withoutMarkup } from '../plain';
import type { Pending, TurnState } from '../reducer';
import './composer';
import { conversationList } from './conversations';
import { define } from './define';
import { on, type ChatEvents } from './events';
import { Finished } from './finished';
import { deepActive } from './focus';
import { atEnd, Following } from './following';
import { header } from './header';
import sheet from '../styles/chat.css?inline';
import list from '../styles/conversations.css?inline';
import { latest } from './latest';
import { lineNote } from './line';
import { aboutSource, type OpenSource } from './open-source';
import { pendingQuestion } from './pending';
import { sheets } from './sheets';
import { Watching } from './watching';
import { welcome } from './welcome';
import type { AssistantComposer } from './composer';

export const CLIENT = { name: 'assistant-web', version: '0.1.0' };
/** Narrower than this the source covers the conversation. */
const PANEL_BESIDE_PX = 1000;

export class AssistantChat extends LitElement {
  static override properties: PropertyDeclarations = {
    base: {},
    token: {},
    locale: { reflect: true },
    heading: {},
    config: { state: true },
    conversations: { state: true },
    listOpen: { state: true },
    source: { state: true },
    stopping: { state: true },
    atEnd: { state: true },
    said: { state: true },
    modal: { state: true },
    signedOut: { state: true },
  };
  static override styles = [sheets.tokens, sheets.base, unsafeCSS(list), unsafeCSS(sheet)];
  /** Address of the server; empty for the one that this script came from. */
  declare base: string;
  /** A bearer token; for tokens that change set `tokenSource`. */
  declare token: string | null;
  declare locale: Locale;
  declare heading: string;
  declare config: Config | null;
  declare conversations: ConversationItem[];
  declare listOpen: boolean;
  declare source: OpenSource | null;
  declare stopping: string | null;
  declare atEnd: boolean;
  declare said: string;
  declare modal: boolean;
  declare signedOut: boolean;
  tokenSource: TokenSource = () => Promise.resolve(this.token);
  private api!: Api;
  private loads!: Loads;
  private memory!: Memory;
  private connection!: Connection;
  private readonly finished = new Finished();
  private readonly following = new Following();
  private readonly watching = new Watching(
    (session) => this.api.sources(session),
    (told, found) => this.connection.learn(told, found),
  );
  private opener: HTMLElement | null = null;
  private readonly wake = (): void => {
    if (!document.hidden) this.connection.wake();
  };

  constructor() {
    super();
    this.base = '';
    this.token = null;
    this.heading = '';
    this.config = null;
    this.conversations = [];
    this.listOpen = false;
    this.source = null;
    this.stopping = null;
    this.atEnd = true;
    this.said = '';
    this.modal = false;
    this.signedOut = false;
  }

  // ---- life -----------------------------------------------------------------------------------------------------

  override connectedCallback(): void {
    super.connectedCallback();
    this.api = new Api(this.base || home, (fresh) => this.tokenSource(fresh));
    this.loads = loadsOf(this.api, () => this.connection.state.sessionId ?? '');
    this.memory = new Memory(this.api.base);
    this.locale = this.locale ?? this.memory.locale() ?? pickLocale(navigator.languages);
    this.connection = this.makeConnection();
    window.addEventListener('online', this.wake);
    document.addEventListener('visibilitychange', this.wake);
    void import('./turn');
    this.connection.open(this.memory.session());
    void this.loadConfig();
    void this.loadConversations();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    window.removeEventListener('online', this.wake);
    document.removeEventListener('visibilitychange', this.wake);
    this.connection.close();
  }

  /** Put the cursor where a question is written. */
  override focus(): void {
    void this.updateComplete.then(() => this.composer?.focus());
  }

  private makeConnection(): Connection {
    const environment = browser(this.api, this.memory, (fresh) => this.tokenSource(fresh));
    return new Connection(
      environment,
      CLIENT,
      () => this.locale,
      () => this.requestUpdate(),
    );
  }

  private async loadConfig(): Promise<void> {
    try {
      this.config = await this.api.config();
      this.signedOut = false;
    } catch (error) {
      this.signedOut = error instanceof ApiError && error.status === 401;
    }
  }

  private async loadConversations(): Promise<void> {
    try {
      this.conversations = (await this.api.conversations()).filter((item) => item.turns > 0);
    } catch (error) {
      if (!(error instanceof ApiError)) return;
      this.conversations = [];
    }
  }

  // ---- what follows from a change -------------------------------------------------------------------------------

  override willUpdate(): void {
    this.lang = this.locale === 'zh' ? 'zh-CN' : 'en';
    const { sessionId, turns } = this.connection.state;
    if (sessionId && turns.length) this.memory.rememberSession(sessionId);
    if (this.stopping && turns.find((turn) => turn.turn === this.stopping)?.status !== 'running') this.stopping = null;
    this.watching.look(this.connection.state);
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
    const news = this.watching.news(this.connection.state, this.w);
    for (const turn of this.finished.take(turns, this.connection.link.kind === 'live')) {
      news.push(`${this.w.answerReady} ${withoutMarkup(turn.text)}`);
      void this.loadConversations();
    }
    if (news.length) this.said = news.join(' ');
  }

  // ---- drawing --------------------------------------------------------------------------------------------------

  override render(): TemplateResult {
    const { w } = this;
    const { state } = this.connection;
    const { sentence, fate } = aboutSource(state.turns, this.source);
    const beside = this.source && !this.modal ? `source-open ${fate ?? ''}` : '';
    const empty = !state.turns.length && !state.pending.length && state.need !== 'reload';
    return html`
      <div class="frame ${this.listOpen ? 'list-open' : ''} ${beside}">
        <nav id="list" aria-label=${w.conversations} @keydown=${this.listKey}>
          ${conversationList(this.conversations, state.sessionId, this.locale, {
            open: (id) => this.switchTo(id),
            start: () => this.switchTo(null),
          })}
        </nav>
        <div class="shade" @click=${() => (this.listOpen = false)}></div>
        <main>
          ${header({
            w,
            locale: this.locale,
            title: this.heading || this.config?.title || '',
            model: this.config?.model ?? null,
            listOpen: this.listOpen,
            toggleList: () => void this.toggleList(),
            switchLanguage: () => this.switchLanguage(),
            start: () => this.switchTo(null),
          })}
          <div class="scroll" role="region" aria-label=${w.conversation} tabindex="0" @scroll=${this.scrolled}>
            ${empty ? welcome(this.config?.examples ?? [], w, (text) => this.askPlainly(text)) : this.thread(state.turns, state.pending)}
          </div>
          ${this.bottom()}
          <div class="heard" aria-live="polite">${this.said}</div>
        </main>
        <assistant-source
          .citation=${this.source?.citation ?? null}
          .turn=${this.source?.turn ?? ''}
          .loads=${this.loads}
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

  private thread(turns: readonly TurnState[], pending: readonly Pending[]): TemplateResult {
    const { source } = this;
    return html`
      <div
        class="thread"
        @open-source=${on('open-source', (detail) => this.openSource(detail))}
        @ask-again=${on('ask-again', ({ text }) => this.askPlainly(text))}
        @rate=${on('rate', ({ d, noted }) => this.connection.feedback(d, noted))}
      >
        ${repeat(
          turns,
          (turn) => turn.turn,
          (turn) =>
            html`<assistant-turn
              role="article"
              aria-label=${turn.question.slice(0, 80)}
              .turn=${turn}
              .loads=${this.loads}
              .focused=${source?.turn === turn.turn ? source.citation : null}
              locale=${this.locale}
            ></assistant-turn>`,
        )}
        ${repeat(
          pending,
          (item) => item.id,
          (item) => this.waiting(item),
        )}
      </div>
    `;
  }

  private waiting(item: Pending): TemplateResult {
    const { id, text, mode, collections } = item;
    const again = (): void => {
      this.connection.discard(id);
      this.ask({ text, mode, collections });
    };
    return pendingQuestion(item, this.w, again, () => this.connection.discard(id));
  }

  private bottom(): TemplateResult {
    const { w } = this;
    const running = this.running();
    return html`
      <div class="bottom">
        ${latest(this.atEnd, w, () => this.area && this.following.jump(this.area))}
        ${lineNote(this.connection.link, this.signedOut, w, () => this.retry())}
        <assistant-composer
          locale=${this.locale}
          .collections=${this.config?.collections ?? []}
          .modes=${this.config?.modes ?? Object.keys(w.modes)}
          ?running=${running !== undefined}
          ?stopping=${this.stopping !== null}
          @ask=${on('ask', (detail) => this.ask(detail))}
          @typing=${() => this.connection.warm()}
          @stop=${this.stop}
        ></assistant-composer>
      </div>
    `;
  }

  // ---- doing ----------------------------------------------------------------------------------------------------

  private running(): TurnState | undefined {
    return this.connection.state.turns.findLast((turn) => turn.status === 'running');
  }

  private ask(question: ChatEvents['ask']): void {
    this.following.restart();
    this.connection.ask(question);
    this.composer?.focus();
  }

  private askPlainly(text: string): void {
    this.ask({ text, mode: 'auto', collections: [] });
  }

  private retry(): void {
    if (this.connection.link.kind === 'closed') this.connection.retry();
    if (this.signedOut) void this.loadConfig();
    void this.loadConversations();
  }

  private stop(): void {
    const turn = this.running()?.turn;
    if (!turn) return;
    this.stopping = turn;
    this.connection.cancel(turn);
  }

  private switchTo(session: string | null): void {
    this.listOpen = false;
    this.source = null;
    this.atEnd = true;
    this.following.restart(0);
    this.memory.rememberSession(session);
    this.connection.open(session);
    this.composer?.focus();
  }

  private switchLanguage(): void {
    this.locale = this.locale === 'zh' ? 'en' : 'zh';
    this.memory.rememberLocale(this.locale);
  }

  private async toggleList(): Promise<void> {
    this.listOpen = !this.listOpen;
    await this.updateComplete;
    if (this.listOpen) this.renderRoot.querySelector<HTMLElement>('nav button')?.focus();
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
    this.modal = this.clientWidth < PANEL_BESIDE_PX;
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
