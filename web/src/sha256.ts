/**
 * SHA-256 (FIPS 180-4) of the UTF-8 bytes of a text, as lower-case hex. Written out because `crypto.subtle` is
 * asynchronous and missing on plain-HTTP intranet hosts, and the reducer is neither.
 */

const K = new Uint32Array(64);
const START = new Uint32Array(8);

/** The first 32 bits of the fractional part of x. */
const fraction = (x: number): number => ((x - Math.floor(x)) * 2 ** 32) >>> 0;

function primes(count: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; n++) if (found.every((p) => n % p !== 0)) found.push(n);
  return found;
}

primes(64).forEach((p, i) => {
  K[i] = fraction(Math.cbrt(p));
  if (i < 8) START[i] = fraction(Math.sqrt(p));
});

const rotate = (x: number, by: number): number => (x >>> by) | (x << (32 - by));

function padded(text: string): DataView {
  const bytes = new TextEncoder().encode(text);
  const size = ((bytes.length + 72) >> 6) << 6;
  const block = new Uint8Array(size);
  block.set(bytes);
  block[bytes.length] = 0x80;
  const view = new DataView(block.buffer);
  view.setUint32(size - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(size - 4, (bytes.length << 3) >>> 0);
  return view;
}

function schedule(view: DataView, at: number, w: Uint32Array): void {
  for (let i = 0; i < 16; i++) w[i] = view.getUint32(at + i * 4);
  for (let i = 16; i < 64; i++) {
    const a = w[i - 15]!;
    const b = w[i - 2]!;
    const s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3);
    const s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10);
    w[i] = w[i - 16]! + s0 + w[i - 7]! + s1;
  }
}

function compress(hash: Uint32Array, w: Uint32Array): void {
  let [a, b, c, d, e, f, g, h] = hash as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i]! + w[i]!) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((value, i) => {
    hash[i] = hash[i]! + value;
  });
}

/** Hex digest of the text. */
export function sha256(text: string): string {
  const view = padded(text);
  const hash = START.slice();
  const w = new Uint32Array(64);
  for (let at = 0; at < view.byteLength; at += 64) {
    schedule(view, at, w);
    compress(hash, w);
  }
  return Array.from(hash, (word) => word.toString(16).padStart(8, '0')).join('');
}
