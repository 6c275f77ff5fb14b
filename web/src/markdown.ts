/**
 * Markdown tokens as Lit templates. Only the elements written out below can appear; every text is a text node and every
 * attribute is fixed or checked here. HTML of the answer is shown as the text it is, images as their description.
 */

import { html, nothing, type TemplateResult } from 'lit';
import type { Token, Tokens } from 'marked';

import { bare, pieces, type Annotated, type AnswerSpan } from './citations';
import { safeTarget } from './links';

export type Rendered = TemplateResult | string | typeof nothing | Rendered[];

/** What is drawn for spans: stretches of text, and the buttons behind them. */
export interface SpanPainter {
  text(text: string, active: readonly AnswerSpan[]): Rendered;
  buttons(span: AnswerSpan): Rendered;
}

const PLAIN: SpanPainter = { text: (text) => text, buttons: () => nothing };
const DEEPEST = 24;
/** Tokens that draw nothing. */
const UNSEEN = ['space', 'def'];

/** The answer as templates, in document order, with each span's buttons exactly once. */
export function render(answer: Annotated, painter: SpanPainter = PLAIN): Rendered {
  const pen = new Pen(answer.spans, painter);
  const blocks = answer.tokens.map((token, i) => block(isTitle(answer.tokens, i) ? titled(token) : token, pen, 0));
  const loose = answer.loose.map((i) => pen.buttons(2 * i + 1));
  return [blocks, loose.length ? html`<p class="loose">${loose}</p>` : nothing];
}

/** Walks through the text in reading order and knows which spans are open. */
class Pen {
  private readonly open = new Set<number>();
  private readonly closed = new Set<number>();
  private readonly drawn = new Set<number>();
  private inLink = 0;

  constructor(
    private readonly spans: readonly AnswerSpan[],
    private readonly painter: SpanPainter,
  ) {}

  /** A token's text, painted, with buttons where spans end. */
  write(text: string): Rendered {
    return pieces(text).map((piece) => this.writePiece(decodeEntities(piece.text), piece.mark));
  }

  /** Buttons never begin a line: the last letter before them stays with them. */
  private writePiece(text: string, mark: number | null): Rendered {
    const whole = this.paint(text);
    const last = /\S$/u.exec(text)?.[0] ?? '';
    const body = this.paint(text.slice(0, text.length - last.length));
    const end = this.paint(last);
    const buttons = this.pass(mark);
    if (buttons === nothing) return whole;
    return last ? [body, html`<span class="keep">${end}${buttons}</span>`] : [whole, buttons];
  }

  /** Text that stays as it is written (code); its marks are drawn behind it. */
  verbatim(text: string): Rendered {
    return this.paint(bare(text));
  }

  /** Marks of `raw` that were not passed yet. */
  rest(raw: string): Rendered[] {
    return pieces(raw)
      .map((piece) => this.pass(piece.mark))
      .filter((drawn) => drawn !== nothing);
  }

  /** Draw inside a link: no button may stand in it. */
  linked(draw: () => Rendered): Rendered {
    this.inLink++;
    const drawn = draw();
    this.inLink--;
    return drawn;
  }

  buttons(mark: number): Rendered {
    const span = this.spans[mark >> 1];
    if (!span || this.drawn.has(mark)) return nothing;
    this.drawn.add(mark);
    return this.painter.buttons(span);
  }

  private paint(text: string): Rendered {
    const active = [...this.open].flatMap((i) => this.spans[i] ?? []);
    return text ? this.painter.text(text, active) : nothing;
  }

  private pass(mark: number | null): Rendered {
    if (mark === null) return nothing;
    const i = mark >> 1;
    if (mark % 2 === 0) {
      if (!this.closed.has(i)) this.open.add(i);
      return nothing;
    }
    this.open.delete(i);
    this.closed.add(i);
    return this.inLink ? nothing : this.buttons(mark);
  }
}

// ---- blocks -------------------------------------------------------------------------------------------------------

function block(token: Token, pen: Pen, depth: number): Rendered {
  const drawn = depth > DEEPEST ? html`<p>${pen.verbatim(token.raw)}</p>` : blockOf(token, pen, depth);
  const rest = pen.rest(token.raw);
  return rest.length ? [drawn, html`<p class="loose">${rest}</p>`] : drawn;
}

/** Whether a block is nothing but bold words above other blocks: what models (and answers per source) write as a heading. */
function isTitle(tokens: readonly Token[], i: number): boolean {
  const token = tokens[i]!;
  if (token.type !== 'paragraph' || !tokens.slice(i + 1).some((later) => !UNSEEN.includes(later.type))) return false;
  const seen = (token.tokens ?? []).filter((inner) => bare(inner.raw).trim());
  return seen.length === 1 && seen[0]!.type === 'strong';
}

const titled = (token: Token): Token => ({ ...token, type: 'heading', depth: 3 }) as Token;

function blockOf(token: Token, pen: Pen, depth: number): Rendered {
  switch (token.type) {
    case 'space':
    case 'def':
      return nothing;
    case 'heading':
      return heading(token as Tokens.Heading, pen);
    case 'paragraph':
      return html`<p>${inlines(token.tokens, pen)}</p>`;
    case 'list':
      return list(token as Tokens.List, pen, depth);
    case 'blockquote':
      return html`<blockquote>${blocks(token.tokens, pen, depth)}</blockquote>`;
    case 'code':
      return html`<pre tabindex="0"><code>${pen.verbatim((token as Tokens.Code).text)}</code></pre>`;
    case 'table':
      return table(token as Tokens.Table, pen);
    case 'hr':
      return html`<hr />`;
    case 'html':
      return html`<p>${pen.write(token.raw.trim())}</p>`;
    default:
      return inline(token, pen);
  }
}

const blocks = (tokens: Token[] | undefined, pen: Pen, depth: number): Rendered =>
  (tokens ?? []).map((token) => block(token, pen, depth + 1));

function heading(token: Tokens.Heading, pen: Pen): TemplateResult {
  const text = inlines(token.tokens, pen);
  // The page's own headings take the first two levels.
  if (token.depth === 1) return html`<h3>${text}</h3>`;
  return token.depth === 2 ? html`<h4>${text}</h4>` : html`<h5>${text}</h5>`;
}

function list(token: Tokens.List, pen: Pen, depth: number): TemplateResult {
  const items = token.items.map((item) => html`<li>${blocks(item.tokens, pen, depth)}</li>`);
  return token.ordered
    ? html`<ol start=${Number(token.start) || 1}>
        ${items}
      </ol>`
    : html`<ul>
        ${items}
      </ul>`;
}

function table(token: Tokens.Table, pen: Pen): TemplateResult {
  const head = token.header.map((cell) => html`<th scope="col" class=${side(cell)}>${inlines(cell.tokens, pen)}</th>`);
  const row = (cells: Tokens.TableCell[]): TemplateResult =>
    html`<tr>
      ${cells.map((cell) => html`<td class=${side(cell)}>${inlines(cell.tokens, pen)}</td>`)}
    </tr>`;
  return html`<div class="wide" tabindex="0">
    <table>
      <thead>
        <tr>
          ${head}
        </tr>
      </thead>
      <tbody>
        ${token.rows.map(row)}
      </tbody>
    </table>
  </div>`;
}

const side = (cell: Tokens.TableCell): string => (cell.align === 'right' || cell.align === 'center' ? cell.align : '');

// ---- inline -------------------------------------------------------------------------------------------------------

const inlines = (tokens: Token[] | undefined, pen: Pen, depth = 0): Rendered =>
  (tokens ?? []).map((token) => inline(token, pen, depth));

function inline(token: Token, pen: Pen, depth = 0): Rendered {
  const drawn = depth > DEEPEST ? pen.verbatim(token.raw) : inlineOf(token, pen, depth + 1);
  const rest = token.type === 'text' ? [] : pen.rest(token.raw);
  return rest.length ? [drawn, rest] : drawn;
}

function inlineOf(token: Token, pen: Pen, depth: number): Rendered {
  switch (token.type) {
    case 'strong':
      return html`<strong>${inlines(token.tokens, pen, depth)}</strong>`;
    case 'em':
      return html`<em>${inlines(token.tokens, pen, depth)}</em>`;
    case 'del':
      return html`<del>${inlines(token.tokens, pen, depth)}</del>`;
    case 'codespan':
      return html`<code>${pen.verbatim((token as Tokens.Codespan).text)}</code>`;
    case 'br':
      return html`<br />`;
    case 'link':
      return link(token as Tokens.Link, pen, depth);
    case 'image':
      return image(token as Tokens.Image, pen);
    case 'checkbox':
      return (token as Tokens.Checkbox).checked ? '☑ ' : '☐ ';
    case 'escape':
    case 'html':
      return pen.write((token as Tokens.Escape).text);
    default:
      if ('tokens' in token && token.tokens?.length) return inlines(token.tokens, pen, depth);
      // `raw`, as the lexer has already decoded references in `text`: a decoded one could stand for a mark.
      return pen.write(token.raw);
  }
}

/** A link shows where it leads, so that its words cannot pretend another place. */
function link(token: Tokens.Link, pen: Pen, depth: number): Rendered {
  const target = safeTarget(bare(token.href));
  const text = pen.linked(() => inlines(token.tokens, pen, depth));
  return target ? anchor(target, text, bare(token.text)) : text;
}

function image(token: Tokens.Image, pen: Pen): Rendered {
  const target = safeTarget(bare(token.href));
  const text = bare(token.text) || 'image';
  return target ? anchor(target, text, '') : pen.verbatim(text);
}

function anchor(target: URL, text: Rendered, label: string): TemplateResult {
  const place = target.protocol === 'mailto:' ? target.pathname : target.host;
  const shown = label.replace(/^(?:https?:\/\/|mailto:)/i, '');
  const obvious = shown === place || shown.startsWith(`${place}/`);
  return html`<a href=${target.href} target="_blank" rel="noopener noreferrer nofollow"
    >${text}${obvious ? nothing : html`<span class="host"> (${place})</span>`}</a
  >`;
}

const NAMED: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0', hellip: '…' };

/** Character references as text; the result is only ever a text node. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(\w{2,8}));/g, (whole, dec, hex, name) => {
    if (name) return NAMED[name as string] ?? whole;
    const code = dec ? Number(dec) : parseInt(hex as string, 16);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : '\ufffd';
  });
}
