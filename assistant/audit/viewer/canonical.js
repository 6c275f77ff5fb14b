// Canonical JSON (RFC 8785), hashes and signatures by the browser's own cryptography (Web Crypto).

// The canonical text of a parsed value: keys by UTF-16 code units, numbers and strings as ECMAScript writes them.
function canonical(value) {
  if (Array.isArray(value)) return "[" + value.map(canonical).join(",") + "]";
  if (value !== null && typeof value === "object") {
    const parts = Object.keys(value).sort().map((key) => JSON.stringify(key) + ":" + canonical(value[key]));
    return "{" + parts.join(",") + "}";
  }
  if (typeof value === "number" && !Number.isFinite(value)) throw new RangeError("not a JSON number");
  return JSON.stringify(value);
}

const encoder = new TextEncoder();
const subtle = globalThis.crypto?.subtle;

function hexOf(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// null for what is not hexadecimal
function bytesOfHex(text) {
  if (typeof text !== "string" || text.length % 2 || !/^[0-9a-f]*$/.test(text)) return null;
  return Uint8Array.from({ length: text.length / 2 }, (_, at) => parseInt(text.slice(2 * at, 2 * at + 2), 16));
}

// null for what is not base64
function bytesOfBase64(text) {
  try {
    return Uint8Array.from(atob(String(text)), (letter) => letter.charCodeAt(0));
  } catch {
    return null;
  }
}

async function sha256(bytes) {
  return new Uint8Array(await subtle.digest("SHA-256", bytes));
}

async function sha256OfText(text) {
  return hexOf(await sha256(encoder.encode(text)));
}

function joined(...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

// true or false; null where this browser has no Ed25519
async function signedBy(key, signature, text) {
  let known;
  try {
    known = await subtle.importKey("raw", key, "Ed25519", false, ["verify"]);
  } catch (error) {
    return error.name === "NotSupportedError" ? null : false;
  }
  return subtle.verify("Ed25519", known, signature, encoder.encode(text));
}

// The part of a text between two offsets in code points, as the records count them.
function pointsOf(text) {
  return Array.from(String(text ?? ""));
}

function sliceOf(points, start, end) {
  return points.slice(start, end).join("");
}
