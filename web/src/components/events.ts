/** What the inner elements tell the chat; each is a composed, bubbling CustomEvent. */

import type { Citation, Commands } from '../protocol';

export interface ChatEvents {
  'open-source': { turn: string; citation: Citation };
  'ask-again': { text: string };
  /** `noted` is called when the server has it. */
  rate: { d: Commands['feedback.add']; noted: () => void };
  typing: null;
  ask: { text: string; mode: string; collections: string[] };
  stop: null;
}

export function emit<K extends keyof ChatEvents>(from: EventTarget, type: K, detail: ChatEvents[K]): void {
  from.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
}

/** Listener for one of these events, typed. */
export const on =
  <K extends keyof ChatEvents>(_type: K, handle: (detail: ChatEvents[K]) => void) =>
  (event: Event): void =>
    handle((event as CustomEvent<ChatEvents[K]>).detail);
