/** The title, the honest name of the model, the language; and a word when there is no language model at all. */

import { html, nothing, type TemplateResult } from 'lit';

import type { Locale, Words } from '../i18n';
import { icons } from './icons';

export interface Header {
  w: Words;
  locale: Locale;
  title: string;
  model: string | null;
  listOpen: boolean;
  toggleList(): void;
  switchLanguage(): void;
  start(): void;
}

export function header({ w, locale, title, model, listOpen, ...act }: Header): TemplateResult {
  return html`
    <header part="header">
      <button
        class="tool menu"
        aria-label=${listOpen ? w.hideList : w.showList}
        aria-expanded=${listOpen ? 'true' : 'false'}
        aria-controls="list"
        @click=${act.toggleList}
      >
        ${icons.menu}
      </button>
      <h1>${title}</h1>
      ${model ? html`<span class="model"><span class="heard">${w.model}: </span>${model}</span>` : nothing}
      <button class="tool language" lang=${locale === 'zh' ? 'en' : 'zh-CN'} @click=${act.switchLanguage}>
        ${w.other}
      </button>
      <button class="tool fresh" aria-label=${w.newConversation} title=${w.newConversation} @click=${act.start}>
        ${icons.plus}
      </button>
    </header>
    ${model === 'extractive' ? html`<p class="notice">${w.extractive}</p>` : nothing}
  `;
}
