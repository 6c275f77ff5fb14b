/** One citation of an answer, on any page; what it shows is loaded with the first one. */

import { html, LitElement, type PropertyDeclarations, type TemplateResult, unsafeCSS } from 'lit';

import type { GetToken } from '../access';
import { define } from './define';
import sheet from '../styles/citation.css?inline';
import { sheets } from './sheets';

export class AssistantCitation extends LitElement {
  static override properties: PropertyDeclarations = {
    src: {},
    session: {},
    turn: {},
    n: { type: Number },
    locale: {},
    theme: { reflect: true },
    tokenUrl: { attribute: 'token-url' },
    getToken: { attribute: false },
  };
  static override styles = [sheets.tokens, sheets.base, unsafeCSS(sheet)];
  /** Address of the server; empty for the one that this script came from. */
  declare src: string;
  declare session: string;
  declare turn: string;
  /** The number of the citation in its answer. */
  declare n: number;
  declare locale: string;
  declare theme: string;
  /** Address of the portal that answers `{token}`, for portals without a callback. */
  declare tokenUrl: string;
  /** Gives a token of the portal for its user, a new one at each call. */
  declare getToken: GetToken | null;

  constructor() {
    super();
    Object.assign(this, { src: '', session: '', turn: '', n: 0, locale: '', tokenUrl: '', getToken: null });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void import('./quotation');
  }

  override render(): TemplateResult {
    const { src, session, turn, n, locale, tokenUrl, getToken } = this;
    return html`<assistant-quotation .asked=${{ src, session, turn, n, locale, tokenUrl, getToken }}></assistant-quotation>`;
  }
}

define('assistant-citation', AssistantCitation);
