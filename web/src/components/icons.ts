/** Line icons, 20 by 20, drawn in the colour of the text; hidden from screen readers, the button has the name. */

import { svg, html, type TemplateResult } from 'lit';

const icon = (d: string): TemplateResult =>
  html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">${svg`<path d=${d} />`}</svg>`;

export const icons = {
  menu: icon('M3 6h14M3 10h14M3 14h9'),
  plus: icon('M10 4v12M4 10h12'),
  close: icon('M5 5l10 10M15 5L5 15'),
  send: icon('M10 16V4M5 9l5-5 5 5'),
  stop: icon('M6 6h8v8H6z'),
  down: icon('M10 4v12M5 11l5 5 5-5'),
  sliders: icon('M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4'),
  copy: icon('M7 7h9v9H7zM4 13V4h9'),
  notes: icon('M4 4h12v12H4zM7 8h6M7 11h3M13 13.5v-3'),
  check: icon('M4 10.5l4 4 8-9'),
  up: icon('M7 9v8H4V9zM7 9l3-6c2 0 2 1 2 2v3h4l-1 7c0 1-1 2-2 2H7'),
  thumbDown: icon('M7 11V3H4v8zM7 11l3 6c2 0 2-1 2-2v-3h4l-1-7c0-1-1-2-2-2H7'),
  balance: icon('M10 3v14M6 17h8M4 6h12M4 6l-2 5h4zM16 6l-2 5h4z'),
  file: icon('M5 3h6l4 4v10H5zM11 3v4h4'),
  clip: icon('M14.5 9.5l-5 5a3 3 0 0 1-4.3-4.3l6-6a2 2 0 0 1 2.9 2.9l-5.8 5.8'),
  more: icon('M10 4.5v.1M10 10v.1M10 15.5v.1'),
  chat: icon('M4 4h12v9H9l-4 3v-3H4z'),
};
