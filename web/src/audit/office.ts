/** What an auditor does with the log: opens records, has it verified, takes some of it out of the house. */

import type { AuditApi } from './api';
import { failureOf, type Failure } from './failure';
import type { Filters } from './filters';
import { isRemark, type Opened, type RecordItem, type Remark, type Verified } from './records';

/** So many remarks about one answer are opened with it; each look goes on the record. */
const MOST_REMARKS = 10;

export class Office {
  opened: Opened | null = null;
  openFailed: Failure | null = null;
  /** What people said about the opened answer; null while it is being opened. */
  remarks: readonly Remark[] | null = null;
  others: readonly RecordItem[] = [];
  /** Questions of the records that were opened in this visit, by id. */
  readonly questions = new Map<string, string>();
  verified: Verified | null = null;
  verifyFailed: Failure | null = null;
  /** Seconds since a verification began; null when none runs. */
  verifying: number | null = null;
  exporting: 'running' | 'done' | Failure | null = null;
  private asked = 0;

  constructor(
    private readonly api: AuditApi,
    private readonly changed: () => void,
  ) {}

  /** Open a record, and with an answer what people said about it. */
  async open(id: string, reason: string): Promise<void> {
    const number = ++this.asked;
    this.openFailed = null;
    try {
      const opened = await this.api.open(id, reason);
      if (number !== this.asked) return;
      this.show(opened);
      await this.follow(opened, reason, number);
    } catch (error) {
      if (number !== this.asked) return;
      this.openFailed = failureOf(error);
      this.remarks ??= [];
    }
    this.changed();
  }

  close(): void {
    this.asked++;
    this.opened = null;
    this.changed();
  }

  private show(opened: Opened): void {
    this.opened = opened;
    this.remarks = null;
    this.others = [];
    const question = opened.texts?.['question'];
    if (question) this.questions.set(opened.record.id, question);
    this.changed();
  }

  /** The later records about an answer; remarks are opened one after the other, as each look is written. */
  private async follow({ record }: Opened, reason: string, number: number): Promise<void> {
    if (record.kind !== 'turn' || !record.turn) {
      this.remarks = [];
      return;
    }
    const { records } = await this.api.ofTurn(record.turn);
    if (number !== this.asked) return;
    this.others = records.filter((item) => item.id !== record.id && !isRemark(item));
    const said: Remark[] = [];
    for (const item of records.filter(isRemark).slice(0, MOST_REMARKS).reverse()) {
      said.push({ item, opened: await this.api.open(item.id, reason) });
      if (number !== this.asked) return;
    }
    this.remarks = said;
  }

  async verify(): Promise<void> {
    if (this.verifying !== null) return;
    this.verifying = 0;
    this.verifyFailed = null;
    this.changed();
    const clock = setInterval(() => this.tick(), 1000);
    try {
      this.verified = await this.api.verify();
    } catch (error) {
      this.verifyFailed = failureOf(error);
    }
    clearInterval(clock);
    this.verifying = null;
    this.changed();
  }

  private tick(): void {
    this.verifying = (this.verifying ?? 0) + 1;
    this.changed();
  }

  async export(filters: Filters, reason: string): Promise<void> {
    if (this.exporting === 'running') return;
    this.exporting = 'running';
    this.changed();
    try {
      save(await this.api.export(filters, reason), 'audit.zip');
      this.exporting = 'done';
    } catch (error) {
      this.exporting = failureOf(error);
    }
    this.changed();
  }
}

/** Give a file to the browser. */
function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The download has its own hold of the blob a moment later.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
