/** Style sheets that every element shares, minified at build time, as constructable sheets. */

import { unsafeCSS } from 'lit';

import base from '../styles/base.css?inline';
import tokens from '../styles/tokens.css?inline';

export const sheets = { base: unsafeCSS(base), tokens: unsafeCSS(tokens) };
