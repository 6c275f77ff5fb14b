// The Merkle root (RFC 9162, section 2.1) over exported records and the subtrees that stand for all others.

async function leafHash(entry) {
  return sha256(joined(Uint8Array.of(0), entry));
}

async function nodeHash(left, right) {
  return sha256(joined(Uint8Array.of(1), left, right));
}

// Folds neighbouring subtrees {low, high, hash} from left to right into their root.
class Folding {
  constructor() {
    this.stack = [];
  }

  get size() {
    return this.stack.length ? this.stack[this.stack.length - 1].high : 0;
  }

  async add(node) {
    if (node.low !== this.size || !(node.high > node.low) || !node.hash) throw new RangeError("gap");
    this.stack.push(node);
    while (this.stack.length > 1 && this.#whole()) await this.#merge();
  }

  async root() {
    while (this.stack.length > 1) await this.#merge();
    return this.stack.length ? this.stack[0].hash : sha256(new Uint8Array());
  }

  #whole() {
    const [left, right] = this.stack.slice(-2);
    const width = left.high - left.low;
    return width === right.high - right.low && Number.isInteger(Math.log2(width)) && left.low % (2 * width) === 0;
  }

  async #merge() {
    const right = this.stack.pop();
    const left = this.stack.pop();
    this.stack.push({ low: left.low, high: right.high, hash: await nodeHash(left.hash, right.hash) });
  }
}

// The root in hexadecimal; null when records and subtrees do not cover the tree of `size` leaves exactly.
async function rootOf(size, records, nodes) {
  const pieces = nodes.map(([low, high, hash]) => ({ low, high, hash: bytesOfHex(hash) }));
  for (const { seq, hash } of records) {
    if (seq > size) continue;
    const entry = bytesOfHex(hash);
    if (!entry) return null;
    pieces.push({ low: seq - 1, high: seq, hash: await leafHash(entry) });
  }
  pieces.sort((one, other) => one.low - other.low);
  const folding = new Folding();
  try {
    for (const piece of pieces) await folding.add(piece);
  } catch {
    return null;
  }
  return folding.size === size ? hexOf(await folding.root()) : null;
}
