/**
 * The script for other pages: `<script src="https://…/assistant-chat.js" data-launcher></script>` gives a button in the
 * corner that opens the chat; without `data-launcher` it only defines `<assistant-chat>`, to be placed by the page.
 * The server is where the script came from, or `data-base`.
 */

import { AssistantLauncher } from './components/launcher';
import type { AssistantChat } from './components/chat';

const script =
  (document.currentScript as HTMLScriptElement | null) ??
  document.querySelector<HTMLScriptElement>('script[src*="assistant-chat.js"]');

/** The address that the script was loaded from, without its own name. */
function baseOf(tag: HTMLScriptElement | null): string {
  const given = tag?.dataset['base'] ?? tag?.src.replace(/\/assistant-chat\.js.*$/, '') ?? '';
  return given.replace(/\/$/, '');
}

function place(): void {
  const base = baseOf(script);
  for (const chat of document.querySelectorAll<AssistantChat>('assistant-chat:not([base])')) chat.base ||= base;
  if (!script || !('launcher' in script.dataset)) return;
  const launcher = new AssistantLauncher();
  launcher.base = base;
  document.body.append(launcher);
}

if (document.body) place();
else addEventListener('DOMContentLoaded', place);
