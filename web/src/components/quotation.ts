/** What the answer rests on as it was, and what stands there today: the inside of `<assistant-citation>`. */

import { html, LitElement, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';

import { Access, tokenFrom, type GetToken } from '../access';
import { Api, ApiError } from '../api';
import { home } from '../home';
import { pickLocale, type Locale } from '../i18n';
import { loadsOf, type Loads } from '../loads';
import { excerpt } from '../plain';
import type { Citation } from '../protocol';
import { sourceWords } from '../words/source';
import { define } from './define';
import { sheets } from './sheets';
import type { AssistantCitation } from './citation';

type Asked = Pick<AssistantCitation, 'src' | 'session' | 'turn' | 'n' | 'locale' | 'tokenUrl' | 'getToken'>;

interface Shown {
  citation: Citation;
  /** The words of the answer that rest on it. */
  sentence: string;
}

type Failure = 'gone' | 'signedOut' | 'failed';

export class AssistantQuotation extends LitElement {
  static override properties: PropertyDeclarations = {
    asked: { attribute: false, hasChanged: differs },
    shown: { state: true },
    failed: { state: true },
  };
  static override styles = [sheets.base];
  declare asked: Asked;
  declare shown: Shown | null;
  /** Why nothing is shown. */
  declare failed: Failure | null;
  private loads!: Loads;
  private number = 0;

  constructor() {
    super();
    this.shown = null;
    this.failed = null;
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('asked')) void this.load();
    // Asked for here and not above, as the panel of a chat is the same chunk.
    void import('./source');
  }

  override render(): TemplateResult {
    const w = sourceWords(this.locale);
    if (this.failed) {
      const said = { gone: w.sourceState.not_available, signedOut: w.closed[4501], failed: w.passageFailed }[this.failed];
      const again = html`<button class="text-button" @click=${this.load}>${w.tryAgain}</button>`;
      return html`<p role="status">${said} ${this.failed === 'gone' ? nothing : again}</p>`;
    }
    if (!this.shown) return html`<p role="status">${w.loading}</p>`;
    return html`<assistant-source
      alone
      lang=${this.locale === 'zh' ? 'zh-CN' : 'en'}
      .citation=${this.shown.citation}
      .turn=${this.asked.turn}
      .loads=${this.loads}
      sentence=${this.shown.sentence}
      locale=${this.locale}
    ></assistant-source>`;
  }

  private get locale(): Locale {
    return pickLocale([this.asked.locale, ...navigator.languages]);
  }

  /** The citation as its answer has it; what became of its source is then asked by the inner element. */
  private async load(): Promise<void> {
    const number = ++this.number;
    const { session, turn, n } = this.asked;
    const settle = (shown: Shown | null, failed: Failure | null): void => {
      if (number === this.number) Object.assign(this, { shown, failed });
    };
    if (!session || !turn || !(n > 0)) return settle(null, 'gone');
    try {
      const { turns } = await this.connect(session).snapshot(session);
      const message = turns.find((one) => one.turn === turn)?.message;
      const citation = message?.citations?.items.find((item) => item.n === n);
      if (citation) settle({ citation, sentence: excerpt(message!.text, citation) }, null);
      else settle(null, 'gone');
    } catch (error) {
      settle(null, failureOf(error));
    }
  }

  private connect(session: string): Api {
    const { src, tokenUrl, getToken } = this.asked;
    const portal = (): GetToken | null => getToken ?? (tokenUrl ? tokenFrom(tokenUrl) : null);
    const base = src.replace(/\/$/, '') || home;
    const access: Access = new Access(base, portal, async () => Boolean((await api.config()).sign_in));
    const api = new Api(base, access.token);
    this.loads = loadsOf(api, () => session);
    return api;
  }
}

function differs(asked: Asked, before: Asked | undefined): boolean {
  return !before || Object.entries(asked).some(([name, value]) => before[name as keyof Asked] !== value);
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof ApiError)) return 'failed';
  if (error.status === 404) return 'gone';
  return [401, 403].includes(error.status) ? 'signedOut' : 'failed';
}

define('assistant-quotation', AssistantQuotation);
