/** Where the server is: beside the script when another page loads it, else beside this page. */

const script =
  (document.currentScript as HTMLScriptElement | null) ??
  document.querySelector<HTMLScriptElement>('script[src*="assistant-chat.js"]');

/** The tag that loaded the widget, when this is the widget. */
export const scriptTag = script?.src.includes('assistant-chat.js') ? script : null;

/** Origin and path prefix without a slash at the end. */
export const home = (scriptTag?.dataset['base'] ?? new URL('.', scriptTag?.src ?? document.baseURI).href).replace(/\/$/, '');
