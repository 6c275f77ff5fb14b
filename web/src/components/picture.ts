/** An image among the evidence: its bytes come with the caller's rights, so they are fetched and shown as a blob. */

import {
  html,
  LitElement,
  nothing,
  svg,
  type PropertyDeclarations,
  type PropertyValues,
  type TemplateResult,
  unsafeCSS,
} from 'lit';

import { type Locale } from '../i18n';
import type { Loads } from '../loads';
import { sourceWords, type SourceWords } from '../words/source';
import { define } from './define';
import sheet from '../styles/picture.css?inline';
import { sheets } from './sheets';

export type Region = readonly [number, number, number, number];

/** Pixels only: an SVG is a document, and a blob of one would be a document of this origin. */
const TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/avif'];

/** A region as numbers within the page, left before right and top before bottom; null for anything else. */
export function regionOf(value: unknown): Region | null {
  if (!Array.isArray(value) || value.length !== 4 || !value.every((n) => Number.isFinite(n))) return null;
  const [left, top, right, bottom] = value.map((n) => Math.min(1, Math.max(0, n as number))) as [
    number,
    number,
    number,
    number,
  ];
  return left < right && top < bottom ? [left, top, right, bottom] : null;
}

/** Which third of the page, across and down, the middle of a region lies in. */
export function thirds([left, top, right, bottom]: Region): [number, number] {
  const third = (middle: number): number => Math.min(2, Math.floor(middle * 3));
  return [third((left + right) / 2), third((top + bottom) / 2)];
}

export class AssistantPicture extends LitElement {
  static override properties: PropertyDeclarations = {
    image: {},
    turn: {},
    caption: {},
    region: { attribute: false },
    loads: { attribute: false },
    locale: {},
    address: { state: true },
    failed: { state: true },
  };
  static override styles = [sheets.base, unsafeCSS(sheet)];
  /** The id of the image. */
  declare image: string;
  declare turn: string;
  /** The text that stands for the image. */
  declare caption: string;
  declare region: unknown;
  declare loads: Loads;
  declare locale: Locale;
  /** The address of the blob while this element shows it. */
  declare address: string | null;
  declare failed: boolean;

  constructor() {
    super();
    this.caption = '';
    this.region = null;
    this.address = null;
    this.failed = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated) void this.fetchImage();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.release();
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('image') || changed.has('turn')) void this.fetchImage();
  }

  override render(): TemplateResult {
    const { w } = this;
    const region = regionOf(this.region);
    return html`
      <h3>${w.image}</h3>
      <figure>
        ${
          this.address
            ? html`<img src=${this.address} alt=${this.caption} @error=${() => this.fail()} />`
            : html`<p class="note" role="status">${this.failed ? w.imageFailed : w.loading}</p>`
        }
        ${region ? this.place(region) : nothing}
      </figure>
    `;
  }

  private get w(): SourceWords {
    return sourceWords(this.locale);
  }

  /** A small page with the region on it, and the same in words. */
  private place(region: Region): TemplateResult {
    const [left, top, right, bottom] = region.map((n) => n * 100) as [number, number, number, number];
    const part = svg`<rect x=${left} y=${top} width=${right - left} height=${bottom - top} />`;
    return html`<figcaption>
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">${part}</svg>
      ${this.w.imagePlace(...thirds(region))}
    </figcaption>`;
  }

  private async fetchImage(): Promise<void> {
    this.release();
    this.failed = false;
    const { image, turn } = this;
    const current = (): boolean => this.isConnected && this.image === image && this.turn === turn && !this.address;
    try {
      const blob = await this.loads.image(turn, image);
      if (!current()) return;
      if (TYPES.includes(blob.type)) this.address = URL.createObjectURL(blob);
      else this.fail();
    } catch {
      if (current()) this.fail();
    }
  }

  private fail(): void {
    this.release();
    this.failed = true;
  }

  private release(): void {
    if (this.address) URL.revokeObjectURL(this.address);
    this.address = null;
  }
}

define('assistant-picture', AssistantPicture);
