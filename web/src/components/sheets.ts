/** The style sheets, minified at build time and shared between the elements as constructable sheets. */

import { unsafeCSS } from 'lit';

import base from '../styles/base.css?inline';
import chat from '../styles/chat.css?inline';
import composer from '../styles/composer.css?inline';
import launcher from '../styles/launcher.css?inline';
import plan from '../styles/plan.css?inline';
import source from '../styles/source.css?inline';
import tokens from '../styles/tokens.css?inline';
import turn from '../styles/turn.css?inline';

export const sheets = {
  base: unsafeCSS(base),
  chat: unsafeCSS(chat),
  composer: unsafeCSS(composer),
  launcher: unsafeCSS(launcher),
  plan: unsafeCSS(plan),
  source: unsafeCSS(source),
  tokens: unsafeCSS(tokens),
  turn: unsafeCSS(turn),
};
