/** A round button in the corner of another page that opens the chat above it. */

import { html, LitElement, nothing, type PropertyDeclarations, type TemplateResult, unsafeCSS } from 'lit';

import { pickLocale, words } from '../i18n';
import './chat';
import { define } from './define';
import { icons } from './icons';
import sheet from '../styles/launcher.css?inline';
import { sheets } from './sheets';

export class AssistantLauncher extends LitElement {
  static override properties: PropertyDeclarations = {
    base: {},
    token: {},
    open: { type: Boolean, reflect: true },
    used: { state: true },
  };
  static override styles = [sheets.tokens, sheets.base, unsafeCSS(sheet)];
  declare base: string;
  declare token: string | null;
  declare open: boolean;
  declare used: boolean;

  constructor() {
    super();
    this.base = '';
    this.token = null;
    this.open = false;
    this.used = false;
  }

  override render(): TemplateResult {
    const w = words(pickLocale(navigator.languages));
    const label = this.open ? w.close : w.placeholder;
    return html`
      <div class="panel" ?hidden=${!this.open} @keydown=${this.key}>
        ${this.used ? html`<assistant-chat base=${this.base} .token=${this.token}></assistant-chat>` : nothing}
      </div>
      <button
        class="knob filled"
        aria-label=${label}
        aria-expanded=${this.open ? 'true' : 'false'}
        @click=${this.toggle}
      >
        ${this.open ? icons.close : icons.chat}
      </button>
    `;
  }

  private async toggle(): Promise<void> {
    this.open = !this.open;
    // The chat is made at the first opening and then kept, so that an answer goes on while it is closed.
    this.used = true;
    await this.updateComplete;
    if (this.open) this.renderRoot.querySelector<HTMLElement>('assistant-chat')?.focus();
  }

  private key(event: KeyboardEvent): void {
    if (event.key !== 'Escape') return;
    this.open = false;
    this.renderRoot.querySelector<HTMLElement>('.knob')?.focus();
  }
}

define('assistant-launcher', AssistantLauncher);
