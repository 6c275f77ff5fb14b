/** What the inner elements tell the chat; each is a composed, bubbling CustomEvent. */

import type { Citation, Commands } from '../protocol';
import type { Attached } from '../reducer';

/** What a composer asks of the server for files. */
export interface Filing {
  attach(file: File): Promise<Attached>;
  detach(id: string): Promise<void>;
}

export interface ChatEvents {
  'open-source': { turn: string; citation: Citation };
  /** `mode` is the one that was chosen, `auto` where none was. */
  'ask-again': { text: string; mode: string };
  /** `noted` is called when the server has it. */
  rate: { d: Commands['feedback.add']; noted: () => void };
  typing: null;
  ask: { text: string; mode: string; collections: string[]; attachments: Attached[] };
  stop: null;
  /** Null is a new one. */
  'open-conversation': { id: string | null };
  'conversation-removed': { id: string };
  'signed-out': null;
  'files-changed': null;
  /** The last one has been removed, and the cursor with it. */
  'files-emptied': null;
}

export function emit<K extends keyof ChatEvents>(from: EventTarget, type: K, detail: ChatEvents[K]): void {
  from.dispatchEvent(new CustomEvent(type, { detail, bubbles: true, composed: true }));
}

/** Listener for one of these events, typed. */
export const on =
  <K extends keyof ChatEvents>(_type: K, handle: (detail: ChatEvents[K]) => void) =>
  (event: Event): void =>
    handle((event as CustomEvent<ChatEvents[K]>).detail);
