/**
 * The side of the portal for a frame that shows embed.html. It has no imports, so that a portal can serve a copy of it:
 *
 *     import { connectAssistant } from './embed-host.js';
 *     connectAssistant(document.querySelector('#assistant'), { getToken: () => fetchToken(), theme: 'auto' });
 */

export interface HostOptions {
  /** Gives a token for the user of the portal, a new one at each call. */
  getToken(): Promise<string>;
  /** `light`, `dark` or `auto`. */
  theme?: string;
  locale?: string;
}

/** Answer the frame, and nothing but the frame at the origin of its `src`; the result changes how it looks. */
export function connectAssistant(
  frame: HTMLIFrameElement,
  { getToken, ...first }: HostOptions,
): (look: { theme?: string; locale?: string }) => void {
  const { origin } = new URL(frame.src, location.href);
  let shown: { theme?: string; locale?: string } = first;
  const tell = (message: object): void => frame.contentWindow?.postMessage(message, origin);
  const look = (more: typeof shown): void => {
    shown = { ...shown, ...more };
    tell({ type: 'assistant.look', ...shown });
  };
  window.addEventListener('message', (event: MessageEvent<unknown>) => {
    if (event.origin !== origin || event.source !== frame.contentWindow) return;
    const type = (event.data as { type?: unknown } | null)?.type;
    if (type === 'assistant.ready') look({});
    if (type !== 'assistant.token.wanted') return;
    getToken().then(
      (token) => tell({ type: 'assistant.token', token }),
      () => undefined,
    );
  });
  return look;
}
