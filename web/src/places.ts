/** Where in raw markdown a mark can stand without changing what the text means. All places are UTF-16 indexes. */

const BLOCK_PREFIX = /^[ \t]*(?:(?:>[ \t]?|[-*+][ \t]+|\d{1,9}[.)][ \t]+|#{1,6}[ \t]+|\[[ xX]\][ \t]+|\|)[ \t]*)+/;
/** Lines that only structure: fences, rules, table delimiters, underlines of headings. */
const STRUCTURAL = /^[ \t>]*(?:`{3,}|~{3,})|^[ \t>]*[-=*_|:][-=*_|: \t]*$/;
const CLOSING = /^(?:[)\]}”’"'»」』）】》]|[.!?。！？…])+/;
const DELIMITER_RUN = /^(\*+|_+|~+|`+)/;

const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1;

function lineAt(text: string, at: number): string {
  const end = text.indexOf('\n', at);
  return text.slice(lineStart(text, at), end < 0 ? text.length : end);
}

/** Out of a character reference, which a mark would break. */
function outside(text: string, at: number): number {
  if (!/&#?\w{0,8}$/.test(text.slice(Math.max(0, at - 10), at))) return at;
  return at + (/^#?\w{0,8};/.exec(text.slice(at, at + 10))?.[0].length ?? 0);
}

/** Behind the markers that open a block (list, quote, heading, table cell). */
export function openingPlace(text: string, offset: number): number {
  let at = outside(text, offset);
  while (at < text.length && /\s/.test(text.charAt(at))) at++;
  const from = lineStart(text, at);
  const prefix = BLOCK_PREFIX.exec(lineAt(text, at))?.[0].length ?? 0;
  return Math.max(at, from + prefix);
}

/** At the end of the last line with words, behind closing signs and before the border of a table cell. */
export function closingPlace(text: string, offset: number): number {
  const at = outside(text, offset);
  let end = trimmed(text, at);
  while (end > 0 && STRUCTURAL.test(lineAt(text, end))) end = trimmed(text, lineStart(text, end));
  if (end === 0) return at;
  end = behindClosers(text, end);
  const cell = /[ \t]*\|$/.exec(text.slice(lineStart(text, end), end));
  return cell && cell.index > 0 ? end - cell[0].length : end;
}

const trimmed = (text: string, at: number): number => text.slice(0, at).trimEnd().length;

function behindClosers(text: string, at: number): number {
  for (;;) {
    const rest = text.slice(at, at + 40);
    const run = DELIMITER_RUN.exec(rest)?.[0] ?? '';
    const step = run && isOpen(text, at, run.charAt(0)) ? run : (CLOSING.exec(rest)?.[0] ?? '');
    if (!step || /^\]\(/.test(rest)) return at;
    at += step.length;
  }
}

/** Whether an odd number of delimiter runs of this sign stands before `at` in its paragraph. */
function isOpen(text: string, at: number, sign: string): boolean {
  const from = text.lastIndexOf('\n\n', at - 1) + 1;
  const line = Math.max(from, sign === '*' ? listMarkerEnd(text, at) : 0);
  const runs = text.slice(line, at).match(new RegExp(`(?<!\\\\)\\${sign}+`, 'g'));
  return (runs?.length ?? 0) % 2 === 1;
}

function listMarkerEnd(text: string, at: number): number {
  const from = lineStart(text, at);
  return from + (BLOCK_PREFIX.exec(text.slice(from, at))?.[0].length ?? 0);
}

const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const PUNCTUATION = /[\p{P}\p{S}]/u;

/**
 * Places for empty marks that let emphasis work beside CJK text: by CommonMark's rules `**注意：**内容` is not bold, as the
 * run stands between punctuation and a letter. Models write it all the time.
 */
export function emphasisPlaces(text: string): number[] {
  const found: number[] = [];
  let paragraph = 0;
  let open = false;
  for (const match of text.matchAll(/\n[ \t]*\n|\*\*+/g)) {
    if (match[0].startsWith('\n')) {
      open = false;
      paragraph = match.index;
      continue;
    }
    const end = match.index + match[0].length;
    const before = match.index > paragraph ? text.charAt(match.index - 1) : '';
    const after = text.charAt(end);
    if (open && PUNCTUATION.test(before) && CJK.test(after)) found.push(end);
    if (!open && CJK.test(before) && PUNCTUATION.test(after)) found.push(match.index);
    open = !open;
  }
  return found;
}
