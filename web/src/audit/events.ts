/** What the inner elements tell the audit page; each is a composed, bubbling CustomEvent. */

export interface AuditEvents {
  /** Open the record with this id. */
  'open-record': string;
  'close-record': null;
}

export function emit<K extends keyof AuditEvents>(from: EventTarget, type: K, detail: AuditEvents[K]): void {
  from.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
}

export const on =
  <K extends keyof AuditEvents>(_type: K, handle: (detail: AuditEvents[K]) => void) =>
  (event: Event): void =>
    handle((event as CustomEvent<AuditEvents[K]>).detail);
