/** What a conversation shows before its first question. */

import { html, nothing, type TemplateResult } from 'lit';

import type { Words } from '../i18n';
import { icons } from './icons';

export function welcome(examples: readonly string[], w: Words, ask: (text: string) => void): TemplateResult {
  const example = (text: string): TemplateResult =>
    html`<li><button dir="auto" @click=${() => ask(text)}>${text}</button></li>`;
  return html`
    <div class="welcome">
      <span class="emblem">${icons.chat}</span>
      <h2>${w.welcome}</h2>
      <p>${w.welcomeMore}</p>
      ${
        examples.length
          ? html`<ul aria-label=${w.examples}>
              ${examples.map(example)}
            </ul>`
          : nothing
      }
    </div>
  `;
}
