/** Give a blob to the person as a file; the name is made of the title without what file systems do not take. */
export function download(blob: Blob, title: string, extension: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = `${fileName(title)}.${extension}`;
  link.click();
  // Some browsers read the blob only after the click has returned.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** At most 80 letters; never empty, never beginning with a dot, no control or direction signs. */
export function fileName(title: string): string {
  const plain = title.replace(/[\p{C}<>:"/\\|?*]+/gu, ' ').replace(/\s+/g, ' ').trim().replace(/^[.\s]+/, '');
  return [...plain].slice(0, 80).join('').trim() || 'conversation';
}
