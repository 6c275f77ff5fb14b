/** Absolute addresses for reading (http, https) and writing (mailto); null for everything else. */
export function safeTarget(href: string): URL | null {
  try {
    const url = new URL(href);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url : null;
  } catch {
    return null;
  }
}
