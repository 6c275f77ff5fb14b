/** Tells which answers have just been finished, each once; those that were there when the page came are not news. */

import type { TurnState } from '../reducer';

export class Finished {
  private readonly seen = new Map<string, 'waiting' | 'old'>();

  /** Turns that have ended since the last call; `live` tells whether turns seen for the first time are new. */
  take(turns: readonly TurnState[], live: boolean): TurnState[] {
    return turns.filter(({ turn, status }) => {
      const running = status === 'running';
      const state = this.seen.get(turn) ?? (live || running ? 'waiting' : 'old');
      this.seen.set(turn, running ? state : 'old');
      return state === 'waiting' && !running;
    });
  }
}
