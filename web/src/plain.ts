/** Roughly the words of markdown alone, for a line of quotation or for speech. */
export const withoutMarkup = (text: string): string =>
  text
    .replace(/[*_`]+/g, '')
    .replace(/[|#]+|^ *(?:[-+>]|\d+[.)]) /gm, ' ')
    .trim();
