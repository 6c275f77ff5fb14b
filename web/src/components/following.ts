/**
 * What stays in view while text grows below: the last question, so that an answer is read from its start, or the end,
 * once the reader has gone there. Whoever scrolls back is left alone.
 */

/** Nearer to the end than this counts as being there. */
const NEAR_END_PX = 80;
/** Space above the question. */
const ABOVE_PX = 16;

export class Following {
  private what: 'question' | 'end' | null = 'question';
  private place = 0;

  /** A new question or another conversation. */
  restart(from = this.place): void {
    this.what = 'question';
    this.place = from;
  }

  /** The area was scrolled, by the reader or by `follow`. */
  scrolled(area: HTMLElement): void {
    if (area.scrollTop < this.place - 1) this.what = null;
    else if (area.scrollTop > this.place + 1 && atEnd(area)) this.what = 'end';
    this.place = area.scrollTop;
  }

  /** Go down as far as what is followed stays in view, never up; `last` is the last question with its answer. */
  follow(area: HTMLElement, last: Element): void {
    if (!this.what) return;
    const end = area.scrollHeight - area.clientHeight;
    const question = last.getBoundingClientRect().top - area.getBoundingClientRect().top + area.scrollTop - ABOVE_PX;
    const top = Math.floor(this.what === 'end' ? end : Math.min(end, question));
    if (top <= area.scrollTop) return;
    this.place = top;
    area.scrollTop = top;
  }

  jump(area: HTMLElement): void {
    this.what = 'end';
    area.scrollTo({ top: area.scrollHeight, behavior: 'smooth' });
  }
}

export const atEnd = (area: HTMLElement): boolean =>
  area.scrollHeight - area.scrollTop - area.clientHeight < NEAR_END_PX;
