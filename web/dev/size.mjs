/**
 * Prints what the built files weigh when compressed, and fails when what every page loads before the chat is drawn is
 * over its limit: the script of the widget with all that it imports at once.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const LIMIT = 30 * 1024;
const ENTRY = 'assistant-chat.js';
const ROOT = fileURLToPath(new URL('../../assistant/web/', import.meta.url));

const weight = (name) => gzipSync(readFileSync(ROOT + name), { level: 9 }).length;
const shown = (bytes, name) => console.log(`${(bytes / 1024).toFixed(1).padStart(6)} kB  ${name}`);

/** The file and those that it imports, not those that it asks for later by `import()`. */
function atOnce(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  const code = readFileSync(ROOT + name, 'utf8');
  for (const [, from] of code.matchAll(/(?:\bfrom|\bimport)\s*["'](\.[^"']+)["']/g)) atOnce(join(dirname(name), from), found);
  return found;
}

const files = readdirSync(ROOT, { recursive: true }).filter((name) => name.endsWith('.js'));
for (const name of files) shown(weight(name), name);
const entry = [...atOnce(ENTRY)].reduce((sum, name) => sum + weight(name), 0);
shown(entry, `loaded at once by ${ENTRY} (limit ${(LIMIT / 1024).toFixed(1)} kB)`);
if (entry > LIMIT) {
  console.error(`${ENTRY} and its imports have ${entry} bytes compressed, the limit is ${LIMIT}`);
  process.exit(1);
}
