/**
 * The script for every page: it defines `<assistant-chat>` and `<assistant-citation>`, which the page places where they
 * belong; `data-launcher` on the script's tag adds a chat that opens from a button in the corner. The server is where
 * the script came from, or what `src` of an element or `data-base` of the tag names.
 */

import { AssistantChat } from './components/chat';
import './components/citation';
import { scriptTag } from './home';

if (scriptTag && 'launcher' in scriptTag.dataset) {
  const chat = new AssistantChat();
  chat.display = 'launcher';
  chat.tokenUrl = scriptTag.dataset['tokenUrl'] ?? '';
  document.body.append(chat);
}
