/** Where the server is: beside this script, wherever the page is that loads it. */

const here = import.meta.url;

/** The tag that loaded this script into the page. */
export const scriptTag = [...document.querySelectorAll<HTMLScriptElement>('script[src]')].find(
  (tag) => tag.src === here,
);

/** Origin and path prefix without a slash at the end; `data-base` on the tag names another server. */
export const home = (scriptTag?.dataset['base'] ?? new URL('.', here).href).replace(/\/$/, '');
