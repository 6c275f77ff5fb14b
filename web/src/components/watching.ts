/** Learns what became of the sources of a conversation: once when it was opened, and again when one of them changes. */

import { byFate, fateOf, fatesOf, type CitedState } from '../fates';
import type { Words } from '../i18n';
import type { SourceChanged } from '../protocol';
import { EMPTY, type ChatState, type TurnState } from '../reducer';

type Told = ChatState['told'];

export class Watching {
  private readonly seen = new WeakSet<SourceChanged>();
  private asked: Told = EMPTY.told;
  /** The question to the server that is under way: one at a time for each conversation. */
  private busy: { session: string } | null = null;

  /** `learn` is called with the changes that were known when the states were asked for; none where that failed. */
  constructor(
    private readonly load: (session: string) => Promise<CitedState[]>,
    private readonly learn: (told: Told, found: readonly CitedState[]) => void,
  ) {}

  /** Ask for the states when this conversation has answers with sources and something may have happened since. */
  look({ sessionId, told, turns }: ChatState): void {
    if (!sessionId || told === this.asked || this.busy?.session === sessionId) return;
    this.asked = told;
    const cites = turns.some((turn) => turn.citations?.items.length);
    if (cites && told !== EMPTY.told) void this.ask(sessionId, told);
  }

  private async ask(session: string, told: Told): Promise<void> {
    const mine = { session };
    this.busy = mine;
    const found = await this.load(session).catch(() => []);
    if (this.busy === mine) this.busy = null;
    this.learn(told, found);
  }

  /**
   * What has been told since the last call, in words, each change once. While the server is asked nothing is said: changes
   * come in bursts, of which a screen reader would say the last one only, and the answer tells more of each.
   */
  news({ sessionId, told, turns }: ChatState, w: Words): string[] {
    if (this.busy && this.busy.session === sessionId) return [];
    const fresh = told.filter((change) => !this.seen.has(change));
    for (const change of fresh) this.seen.add(change);
    return turns.flatMap((turn) => {
      const mine = fresh.filter((change) => change.turn === turn.turn);
      return mine.length ? [w.inAnswer(turn.question.slice(0, 80), sentences(turn, mine, w))] : [];
    });
  }
}

/** These changes of one turn, with what is known of each by now, one sentence for each kind. */
function sentences(turn: TurnState, changes: readonly SourceChanged[], w: Words): string {
  const known = fatesOf(turn);
  const fates = new Map(changes.map(({ n, change }) => [n, known.get(n) ?? fateOf(change)]));
  return [...byFate(fates)].map(([fate, numbers]) => w.sourceFate[fate](numbers)).join(' ');
}
