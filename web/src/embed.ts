/** embed.html: the chat as the whole of a frame, for portals that take no script from elsewhere. */

import type { AssistantChat } from './components/chat';
import { framed, type Around } from './framing';

const around: Around = {
  parent: window.parent,
  near: location.ancestorOrigins ? [...location.ancestorOrigins] : [],
  listen: (handle) => window.addEventListener('message', handle),
  after: (ms, run) => void setTimeout(run, ms),
};

/** What the server says of its portals; nothing where it cannot be asked, and then nobody is heard. */
async function known(): Promise<{ portals?: string[] }> {
  try {
    return (await (await fetch(new URL('api/config', document.baseURI), { cache: 'no-store' })).json()) as object;
  } catch {
    return {};
  }
}

async function begin(): Promise<void> {
  const { portals = [] } = await known();
  const chat = document.createElement('assistant-chat') as AssistantChat;
  chat.display = 'page';
  if (window.parent !== window) {
    chat.getToken = framed(around, portals, ({ theme, locale }) => {
      if (theme !== undefined) chat.theme = theme;
      if (locale !== undefined) chat.setAttribute('locale', locale);
    });
  }
  document.body.append(chat);
}

void begin();
