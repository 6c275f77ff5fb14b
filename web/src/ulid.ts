/** ULIDs (github.com/ulid/spec): 48 bits of milliseconds and 80 random bits in Crockford's base 32, 26 characters. */

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A new ULID for the time `now` (milliseconds) from 16 random bytes, of which five bits each are used. */
export function ulid(
  now: number = Date.now(),
  random: Uint8Array = crypto.getRandomValues(new Uint8Array(16)),
): string {
  let time = '';
  for (let i = 0, left = now; i < 10; i++, left = Math.floor(left / 32)) time = ALPHABET.charAt(left % 32) + time;
  return time + Array.from(random, (byte) => ALPHABET.charAt(byte & 31)).join('');
}
