// Verification of a package: files, manifest, records, links, tree, checkpoints, texts, passages.
//
// A check is {name, ok, more}: ok is null when it could not be made. `problems` has, by line of records.jsonl, what does not fit.

const RECORD_FIELDS = [
  "tenant", "seq", "id", "at", "kind", "actor", "subject", "conversation", "turn", "body", "sealed_sha256", "previous", "hash",
];
const FILES = ["records.jsonl", "texts.jsonl", "passages.jsonl", "proof.jsonl"];
const FORM = 1;

// The lines of all files, parsed; a line that is not JSON becomes null.
function parsed(lines) {
  return lines.map((line) => {
    try {
      return JSON.parse(line);
    } catch {
      return null;
    }
  });
}

function isRecord(value) {
  return value !== null && typeof value === "object" && RECORD_FIELDS.every((name) => Object.hasOwn(value, name)) &&
    Object.keys(value).length === RECORD_FIELDS.length;
}

async function hashOfRecord(record) {
  const { hash: _, ...covered } = record;
  return sha256OfText(canonical({ version: FORM, ...covered }));
}

async function genesis(tenant) {
  return sha256OfText("assistant.audit.v1\0" + tenant);
}

// What is wrong with one record, seen by itself and against the one before.
async function problemsOf(record, line, before, manifest) {
  if (!isRecord(record)) return ["malformed"];
  const found = [];
  if (canonical(record) !== line) found.push("not_canonical");
  if ((await hashOfRecord(record)) !== record.hash) found.push("wrong_hash");
  if (record.tenant !== manifest.tenant) found.push("wrong_tenant");
  if (!Number.isInteger(record.seq) || record.seq < 1 || record.seq <= (before?.seq ?? 0)) found.push("out_of_order");
  if (record.seq === 1 && record.previous !== (await genesis(record.tenant))) found.push("broken_link");
  if (before && record.seq === before.seq + 1 && record.previous !== before.hash) found.push("broken_link");
  if (before && record.seq > before.seq + 1 && manifest.unbroken) found.push("gap");
  return found;
}

async function checkRecords(pack, problems) {
  let before = null;
  for (const [at, record] of pack.records.entries()) {
    const found = await problemsOf(record, pack.lines["records.jsonl"][at], before, pack.manifest);
    if (found.length) problems.set(at, found);
    if (isRecord(record)) before = record;
  }
  return { name: "records", ok: problems.size === 0, more: String(pack.records.length) };
}

function checkExtent(pack) {
  const { manifest, records } = pack;
  const first = records[0];
  const last = records[records.length - 1];
  const fits = records.length === manifest.count &&
    (!first || (first.seq === manifest.first && first.previous === manifest.first_previous)) &&
    (!last || (last.seq === manifest.last && last.hash === manifest.last_hash));
  return { name: "extent", ok: fits, more: `${manifest.first}–${manifest.last}` };
}

// answers.csv is not in the page: it says what records and texts say, for a spreadsheet.
async function checkFiles(pack) {
  const wrong = [];
  for (const name of FILES) {
    const told = pack.manifest.files.find((file) => file.name === name);
    const text = (pack.lines[name] ?? []).map((line) => line + "\n").join("");
    if ((await sha256OfText(text)) !== told?.sha256) wrong.push(name);
  }
  return { name: "files", ok: wrong.length === 0, more: wrong.join(", ") };
}

async function checkManifest(pack) {
  const { signature, ...signed } = pack.manifest;
  if (canonical(pack.manifest) !== pack.manifestText) return { name: "manifest", ok: false, more: "" };
  if (!signature) return { name: "manifest", ok: null, more: "unsigned" };
  return { name: "manifest", ...(await signatureOf(pack, signed.key_id, signature, canonical(signed))) };
}

async function signatureOf(pack, keyId, signature, text) {
  const key = bytesOfBase64(pack.manifest.public_keys[keyId] ?? "");
  if (!key?.length) return { ok: false, more: "unknown_key" };
  if (hexOf(await sha256(key)).slice(0, 16) !== keyId) return { ok: false, more: "unknown_key" };
  const ok = await signedBy(key, bytesOfBase64(signature) ?? new Uint8Array(), text);
  return { ok, more: ok === null ? "no_ed25519" : keyId };
}

async function checkCheckpoints(pack) {
  const { checkpoints } = pack.manifest;
  if (!checkpoints.length) return { name: "checkpoints", ok: null, more: "no_checkpoint" };
  for (const checkpoint of checkpoints) {
    const { signature, ...signed } = checkpoint;
    const found = await signatureOf(pack, checkpoint.key_id, signature, canonical(signed));
    if (checkpoint.tenant !== pack.manifest.tenant) found.ok = false;
    if (!found.ok) return { name: "checkpoints", ...found };
  }
  return { name: "checkpoints", ok: true, more: checkpoints.map((each) => each.size).join(", ") };
}

async function checkTree(pack) {
  const { proof, checkpoints } = pack.manifest;
  if (!proof) return { name: "tree", ok: null, more: "no_checkpoint" };
  if (!proof.given) return { name: "tree", ok: false, more: "no_proof" };
  const checkpoint = checkpoints.find((each) => each.size === proof.size);
  const kept = pack.records.filter(isRecord);
  const root = await rootOf(proof.size, kept, pack.proof);
  const head = kept.find((record) => record.seq === proof.size);
  const ok = root !== null && root === checkpoint?.root && (!head || head.hash === checkpoint.head);
  const newer = kept.filter((record) => record.seq > proof.size).length;
  return { name: "tree", ok, more: newer ? `newer:${newer}` : "" };
}

function checkTexts(pack, problems) {
  let ok = pack.texts.every((text) => text && Object.hasOwn(pack.at, text.record));
  for (const [at, record] of pack.records.entries()) {
    if (!isRecord(record) || record.sealed_sha256 === null) continue;
    const told = pack.textOf[record.id];
    if (told && told.seq === record.seq && !told.unreadable) continue;
    problems.set(at, [...(problems.get(at) ?? []), told?.unreadable ? "unreadable" : "no_text"]);
    ok = false;
  }
  return { name: "texts", ok, more: pack.manifest.erased ? `erased:${pack.manifest.erased}` : "" };
}

function checkPassages(pack, problems) {
  let ok = pack.passages.every((passage) => passage && Object.hasOwn(pack.at, passage.record));
  for (const [at, record] of pack.records.entries()) {
    if (!isRecord(record) || citationsOf(record).every((citation) => standsIn(citation, pack.passagesOf[record.id]))) continue;
    problems.set(at, [...(problems.get(at) ?? []), "wrong_passage"]);
    ok = false;
  }
  return { name: "passages", ok, more: String(pack.passages.length) };
}

// Whether a passage of the same version holds the cited text at the cited place.
function standsIn(citation, passages) {
  const source = citation.source;
  if (!source || typeof source !== "object") return true;
  return (passages ?? []).some((passage) =>
    passage.document === source.document && passage.version === source.version && passage.sha256 === source.sha256 &&
    passage.start <= source.start && source.end <= passage.end &&
    sliceOf(pointsOf(passage.exact), source.start - passage.start, source.end - passage.start) === source.exact);
}

function itemsOf(value) {
  const held = value && !Array.isArray(value) && typeof value === "object" ? value.items : value;
  return Array.isArray(held) ? held.filter((item) => item && typeof item === "object") : [];
}

function citationsOf(record) {
  return itemsOf(record.body?.citations);
}

// A package from the text of its manifest and the lines of its files by name.
function packageOf(manifestText, lines) {
  const records = parsed(lines["records.jsonl"] ?? []);
  const texts = parsed(lines["texts.jsonl"] ?? []);
  const passages = parsed(lines["passages.jsonl"] ?? []);
  const pack = { manifest: JSON.parse(manifestText), manifestText, lines, records, texts, passages };
  pack.proof = parsed(lines["proof.jsonl"] ?? []).filter(Array.isArray);
  pack.at = byName(records.map((record, at) => [record?.id, at]));
  pack.textOf = byName(texts.map((text) => [text?.record, text]));
  pack.passagesOf = Object.create(null);
  for (const passage of passages) if (passage) (pack.passagesOf[passage.record] ??= []).push(passage);
  return pack;
}

// An object without a prototype, so that a name such as "constructor" is only a name.
function byName(pairs) {
  return Object.assign(Object.create(null), Object.fromEntries(pairs));
}

async function check(pack) {
  const problems = new Map();
  const checks = [await checkManifest(pack), await checkFiles(pack), await checkRecords(pack, problems)];
  checks.push(checkExtent(pack), await checkTree(pack), await checkCheckpoints(pack));
  checks.push(checkTexts(pack, problems), checkPassages(pack, problems));
  return { checks, problems };
}
