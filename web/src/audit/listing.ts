/** The records and the figures that fit the filters; the last question counts. */

import type { AuditApi } from './api';
import { failureOf, type Failure } from './failure';
import type { Figures } from './figures';
import { DEFAULTS, type Filters } from './filters';
import type { RecordItem } from './records';

export class Listing {
  records: readonly RecordItem[] = [];
  /** Where the next page begins, null where there is none. */
  next: number | null = null;
  loading = false;
  failed: Failure | null = null;
  figures: Figures | null = null;
  figuresFailed: Failure | null = null;
  private filters: Filters = DEFAULTS;
  private asked = 0;
  private counted = 0;

  constructor(
    private readonly api: AuditApi,
    private readonly changed: () => void,
  ) {}

  /** Begin anew with these filters. */
  async look(filters: Filters): Promise<void> {
    this.filters = filters;
    this.records = [];
    this.next = null;
    this.asked++;
    this.loading = false;
    await this.more();
  }

  /** The next page; nothing while one is on its way. */
  async more(): Promise<void> {
    if (this.loading) return;
    const number = this.asked;
    this.loading = true;
    this.failed = null;
    this.changed();
    try {
      const page = await this.api.records(this.filters, this.next);
      if (number !== this.asked) return;
      this.records = [...this.records, ...page.records];
      this.next = page.next;
    } catch (error) {
      if (number !== this.asked) return;
      this.failed = failureOf(error);
    }
    this.loading = false;
    this.changed();
  }

  async count(filters: Filters): Promise<void> {
    const number = ++this.counted;
    this.figures = null;
    this.figuresFailed = null;
    this.changed();
    try {
      const figures = await this.api.figures(filters);
      if (number === this.counted) this.figures = figures;
    } catch (error) {
      if (number === this.counted) this.figuresFailed = failureOf(error);
    }
    this.changed();
  }
}
