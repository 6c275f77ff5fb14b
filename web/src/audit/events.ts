/** What the inner elements tell the audit page; each is a composed, bubbling CustomEvent. */

export interface AuditEvents {
  /** Open the record with this id. */
  'open-record': string;
  'close-record': null;
  /** Have the answer of this record given again, by another model where one is named. */
  'answer-again': { record: string; model: string };
  /** Make the correction in this record the answer of record. */
  'adopt-correction': string;
}

export function emit<K extends keyof AuditEvents>(from: EventTarget, type: K, detail: AuditEvents[K]): void {
  from.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
}

export const on =
  <K extends keyof AuditEvents>(_type: K, handle: (detail: AuditEvents[K]) => void) =>
  (event: Event): void =>
    handle((event as CustomEvent<AuditEvents[K]>).detail);
