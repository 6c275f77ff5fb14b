/** Roughly the words of markdown alone, for a line of quotation or for speech. */
export const withoutMarkup = (text: string): string =>
  text
    .replace(/[*_`]+/g, '')
    .replace(/[|#]+|^ *(?:[-+>]|\d+[.)]) /gm, ' ')
    .trim();

/** The words of a stretch of an answer, given in code points. */
export const excerpt = (answer: string, { start, end }: { start: number; end: number }): string =>
  withoutMarkup([...answer].slice(start, end).join(''));
