/** What an auditor has done about a record: an answer given again, a correction made the answer of record. */

import type { AuditApi } from './api';
import { refusedOf, type Refused } from './failure';
import type { Adopted } from './records';
import type { Replay } from './replay';

/** What came of it, for which record: the result, else why there is none. */
export interface Outcome<T> {
  record: string;
  done: T | null;
  refused: Refused | null;
}

export interface RulingState {
  /** Seconds since an answer is given again; null when none is. */
  replaying: number | null;
  replayed: Outcome<Replay> | null;
  adopting: boolean;
  adopted: Outcome<Adopted> | null;
  /** Whether this person may decide what is answered to others. */
  mayAdopt: boolean;
}

export const NO_RULINGS: RulingState = { replaying: null, replayed: null, adopting: false, adopted: null, mayAdopt: false };

/** Who decides what is answered to others has both of these roles. */
const ADOPTERS = ['auditor', 'admin'] as const;

export class Rulings {
  state = NO_RULINGS;

  constructor(
    private readonly api: AuditApi,
    /** The roles of this person. */
    private readonly roles: () => Promise<readonly string[]>,
    private readonly changed: () => void,
  ) {}

  /** Learn what this person may do. */
  async meet(): Promise<void> {
    const roles = await this.roles();
    this.set({ mayAdopt: ADOPTERS.every((role) => roles.includes(role)) });
  }

  /** Have an answer given again, by its own model where no other is named; one at a time. */
  async replay(record: string, model: string, reason: string): Promise<void> {
    if (this.state.replaying !== null) return;
    this.set({ replaying: 0, replayed: null });
    const clock = setInterval(() => this.set({ replaying: (this.state.replaying ?? 0) + 1 }), 1000);
    const replayed = await outcome(record, this.api.replay(record, model, reason));
    clearInterval(clock);
    this.set({ replaying: null, replayed });
  }

  /** Make the correction in this record the answer of record. */
  async adopt(record: string, reason: string): Promise<void> {
    if (this.state.adopting) return;
    this.set({ adopting: true, adopted: null });
    const adopted = await outcome(record, this.api.adopt(record, reason));
    this.set({ adopting: false, adopted });
  }

  private set(more: Partial<RulingState>): void {
    this.state = { ...this.state, ...more };
    this.changed();
  }
}

const outcome = <T>(record: string, asked: Promise<T>): Promise<Outcome<T>> =>
  asked.then(
    (done) => ({ record, done, refused: null }),
    (error: unknown) => ({ record, done: null, refused: refusedOf(error) }),
  );
