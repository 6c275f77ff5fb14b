/** Prints what the built files weigh when compressed, and fails when the script that every page loads is over its limit. */

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const LIMIT = 30 * 1024;
const ROOT = fileURLToPath(new URL('../../assistant/web/', import.meta.url));

const sizes = readdirSync(ROOT, { recursive: true })
  .filter((name) => name.endsWith('.js'))
  .map((name) => [name, gzipSync(readFileSync(ROOT + name), { level: 9 }).length]);
for (const [name, bytes] of sizes) console.log(`${(bytes / 1024).toFixed(1).padStart(6)} kB  ${name}`);
console.log(`${(sizes.reduce((sum, [, bytes]) => sum + bytes, 0) / 1024).toFixed(1).padStart(6)} kB  all`);
const [, entry = Infinity] = sizes.find(([name]) => name === 'assistant-chat.js') ?? [];
if (entry > LIMIT) {
  console.error(`assistant-chat.js has ${entry} bytes compressed, the limit is ${LIMIT}`);
  process.exit(1);
}
