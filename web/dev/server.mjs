/**
 * A stand-in for the real server, for looking at the page: `npm run build && npm run dev`, then http://127.0.0.1:5180.
 * Serves the built page under the same strict headers, keeps conversations in memory, answers from dev/scenes.mjs.
 * PORT and MODEL set the port and the model's name. A question that contains "drop" loses its socket in mid-answer,
 * one that contains "change" hears after its answer that sources have changed, one with "cache" is answered from the cache.
 * Files are taken as they come, whatever is in them; one whose name begins with "bad" is refused.
 */

import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

import { CALLS, eventsOf } from './scenes.mjs';
import { changesOf, sourceOf, statesIn } from './sources.mjs';

const PORT = Number(process.env.PORT ?? 5180);
const MODEL = process.env.MODEL ?? 'extractive';
const ROOT = fileURLToPath(new URL('../../assistant/web/', import.meta.url));
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob: data:; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'self'; require-trusted-types-for 'script'; trusted-types lit-html";
const TYPES = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** An image of one teal pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNgSIj+DwACdwGfwGSTKAAAAABJRU5ErkJggg==',
  'base64',
);

/** Another page with loud styles of its own and the launcher, at /portal.html. */
const PORTAL = `<!doctype html><meta charset="utf-8"><title>Portal</title>
<style>body { font: 18px Georgia; margin: 3rem; } * { letter-spacing: 1px; text-transform: uppercase; } button { background: red !important; }</style>
<h1>Portal</h1><p>A page of the company.</p><button>Its button</button>
<script type="module" src="/assistant-chat.js" data-launcher></script>`;

/** id -> {id, title, log, live: Set of sockets, cancelled: Set, started: Map}. */
const sessions = new Map();
const EPOCH = randomUUID();
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

function session(id) {
  const known = sessions.get(id);
  if (known) return known;
  const fresh = {
    id,
    title: '',
    log: [],
    live: new Set(),
    cancelled: new Set(),
    started: new Map(),
    files: new Map(),
    at: new Date().toISOString(),
  };
  sessions.set(id, fresh);
  return fresh;
}

const frame = (type, sid, d, more = {}) => ({ v: 1, type, sid, ts: new Date().toISOString(), d, ...more });

function publish(s, turn, type, d) {
  const numbered = frame(type, s.id, d, { seq: s.log.length + 1, turn });
  s.log.push(numbered);
  for (const send of s.live) send(numbered);
}

async function run(s, turn, id, text, files, drop) {
  const deltas = [];
  for (const [type, d, wait] of eventsOf(turn, id, text, MODEL)) {
    await pause(wait);
    if (type === 'turn.accepted') d.attachments = files.map((file) => s.files.get(file) ?? '?');
    if (type === 'answer.start' && /cache/.test(text)) d.from_cache = turn;
    if (type === 'answer.delta') deltas.push(d.text);
    if (s.cancelled.has(turn) && type === 'answer.delta') {
      const so = deltas.join('');
      publish(s, turn, 'answer.delta', d);
      publish(s, turn, 'answer.done', {
        length: [...so].length,
        sha256: createHash('sha256').update(so).digest('hex'),
        finish: 'cancelled',
      });
      publish(s, turn, 'turn.done', { status: 'cancelled', error: null, audit_id: null, record_hash: null });
      return;
    }
    publish(s, turn, type, d);
    if (deltas.length === 12 && type === 'answer.delta') drop();
  }
  if (!/change/.test(text)) return;
  await pause(1500);
  for (const d of changesOf(s.log, turn)) publish(s, turn, 'source.changed', d);
}

// ---- REST -----------------------------------------------------------------------------------------------------------

const NEW = {
  question: '',
  text: '',
  status: 'running',
  stage: 'accepted',
  finish: null,
  sha256: null,
  model: null,
  prompt: null,
  error: null,
  plan: null,
  citations: null,
  conflicts: null,
  usage: null,
  audit_id: null,
  record_hash: null,
};

function fold(log) {
  const turns = new Map();
  for (const { type, turn, d } of log) {
    const m = turns.get(turn) ?? { ...NEW };
    turns.set(turn, m);
    if (type === 'turn.accepted') m.question = d.text;
    if (type === 'turn.plan') m.plan = d;
    if (type === 'answer.start') Object.assign(m, d);
    if (type === 'answer.delta') m.text += d.text;
    if (type === 'answer.done') Object.assign(m, { finish: d.finish, sha256: d.sha256 });
    if (type === 'citations') m.citations = d;
    if (type === 'conflicts') m.conflicts = d;
    if (type === 'turn.usage') m.usage = d;
    if (type === 'turn.done') Object.assign(m, d, { stage: 'done' });
  }
  return [...turns].map(([turn, message]) => ({ turn, message }));
}

function api(path, query) {
  if (path === '/api/config') {
    const examples = [
      'How many days of annual leave do I get?',
      'What happens to leave I do not take?',
      '一线城市出差的住宿标准是多少？',
      'Who approves a remote working request?',
    ];
    return {
      model: MODEL,
      title: 'Company assistant',
      examples,
      collections: ['hr', 'finance'],
      languages: ['en', 'zh'],
      portals: [],
      sign_in: '',
      files: 10,
    };
  }
  if (path === '/api/sessions') {
    return {
      sessions: [...sessions.values()]
        .reverse()
        .filter(({ title }) => title.toLowerCase().includes(query.toLowerCase()))
        .map(({ id, title, at, started }) => ({
          session_id: id,
          title,
          created_at: at,
          updated_at: at,
          turns: started.size,
        })),
    };
  }
  const [, exported] = /^\/api\/sessions\/([^/]+)\/export$/.exec(path) ?? [];
  if (exported) return fold(sessions.get(exported)?.log ?? []);
  const [, id, turn, n] = /^\/api\/sessions\/([^/]+)(?:\/turns\/([^/]+)\/citations\/(\d+)\/source|\/turns\/[^/]+\/calls|\/sources)?$/.exec(path) ?? [];
  const s = sessions.get(id);
  if (!s) return null;
  if (!turn && path.endsWith('/sources')) return statesIn(s.log);
  if (!turn && path.endsWith('/calls')) return { calls: CALLS };
  if (!turn) return { session_id: id, epoch: EPOCH, as_of_seq: s.log.length, turns: fold(s.log) };
  const cited = s.log
    .find((f) => f.turn === turn && f.type === 'citations')
    ?.d.items.find((item) => item.n === Number(n));
  return cited ? sourceOf(cited.evidence) : null;
}

/** What changes something; null for requests that only ask. */
async function change(request, path) {
  if (path === '/api/auth/exchange') {
    const expires_at = new Date(Date.now() + 15 * 60_000).toISOString();
    return { status: 200, body: { access_token: randomUUID(), expires_at, roles: ['user'] } };
  }
  const [, id, inFiles] = /^\/api\/sessions\/([^/]+)(\/files(?:\/[^/]+)?)?$/.exec(path) ?? [];
  const s = sessions.get(id);
  if (!s || request.method === 'GET') return null;
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  if (request.method === 'POST' && inFiles) return attach(s, decodeURIComponent(request.headers['x-file-name'] ?? ''));
  if (request.method === 'DELETE' && !inFiles) sessions.delete(id);
  if (request.method === 'PATCH') s.title = JSON.parse(Buffer.concat(chunks).toString()).title;
  return { status: 200, body: {} };
}

function attach(s, title) {
  if (title.startsWith('bad')) return { status: 422, body: { error: { code: 'bad_document' } } };
  const id = randomUUID();
  s.files.set(id, title);
  return { status: 201, body: { id, title, chunks: 1 } };
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, 'http://x');
  const path = url.pathname;
  if (/^\/api\/.*\/images\//.test(path)) {
    response.writeHead(200, { 'Content-Type': 'image/png' });
    return response.end(PIXEL);
  }
  if (path.startsWith('/api/')) {
    const changed = await change(request, path);
    if (changed) {
      response.writeHead(changed.status, { 'Content-Type': 'application/json' });
      return response.end(JSON.stringify(changed.body ?? null));
    }
    const body = api(path, url.searchParams.get('query') ?? '');
    response.writeHead(body ? 200 : 404, { 'Content-Type': 'application/json' });
    return response.end(JSON.stringify(body ?? { code: 'not_found' }));
  }
  if (path === '/portal.html') {
    response.writeHead(200, { 'Content-Type': TYPES.html });
    return response.end(PORTAL);
  }
  try {
    const name = path === '/' ? 'index.html' : path.slice(1).replaceAll('..', '');
    const body = await readFile(ROOT + name);
    response.writeHead(200, {
      'Content-Type': TYPES[name.split('.').pop()] ?? 'application/octet-stream',
      'Content-Security-Policy': CSP,
      'X-Content-Type-Options': 'nosniff',
    });
    response.end(body);
  } catch {
    response.writeHead(404).end();
  }
});

// ---- WebSocket (RFC 6455), text frames only ---------------------------------------------------------------------------

server.on('upgrade', (request, socket) => {
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: assistant.v1\r\n\r\n`,
  );
  let current = null;
  const send = (value) => socket.writable && socket.write(encode(JSON.stringify(value)));
  const drop = () => socket.destroy();
  let rest = Buffer.alloc(0);
  socket.on('data', (data) => {
    rest = Buffer.concat([rest, data]);
    for (let read = take(rest); read; read = take(rest)) {
      rest = rest.subarray(read.size);
      if (read.opcode === 8) return socket.end();
      if (read.opcode === 1) current = handle(JSON.parse(read.text), current, send, drop);
    }
  });
  socket.on('close', () => current?.live.delete(send));
  socket.on('error', () => undefined);
});

function encode(text) {
  const body = Buffer.from(text);
  const head =
    body.length < 126
      ? Buffer.from([0x81, body.length])
      : Buffer.from([0x81, 126, body.length >> 8, body.length & 255]);
  return Buffer.concat([head, body]);
}

function take(buffer) {
  if (buffer.length < 2) return null;
  let size = buffer[1] & 127;
  let at = 2;
  if (size === 126) [size, at] = [buffer.length < 4 ? Infinity : buffer.readUInt16BE(2), 4];
  if (buffer.length < at + 4 + size) return null;
  const mask = buffer.subarray(at, at + 4);
  const body = Buffer.from(buffer.subarray(at + 4, at + 4 + size)).map((byte, i) => byte ^ mask[i % 4]);
  return { opcode: buffer[0] & 15, text: body.toString(), size: at + 4 + size };
}

function handle({ type, id, d }, s, send, drop) {
  if (type === 'session.open') {
    const opened = session(d.session_id ?? randomUUID());
    const after = d.resume?.epoch === EPOCH ? d.resume.seq : opened.log.length;
    const missed = opened.log.slice(after);
    send(
      frame('session.ready', opened.id, {
        session_id: opened.id,
        epoch: EPOCH,
        head_seq: opened.log.length,
        recovered: Boolean(d.resume),
        replay_count: missed.length,
        heartbeat_ms: 20000,
        auth_expires_at: null,
      }),
    );
    missed.forEach(send);
    send(frame('replay.done', opened.id, { head_seq: opened.log.length }));
    opened.live.add(send);
    return opened;
  }
  if (type === 'ping') send(frame('pong', s.id, { head_seq: s.log.length }));
  else if (type === 'turn.start') {
    const duplicate = s.started.has(id);
    const turn = s.started.get(id) ?? randomUUID();
    s.started.set(id, turn);
    s.title ||= d.text.slice(0, 60);
    send(frame('ack', s.id, { id, duplicate, turn }));
    if (!duplicate) void run(s, turn, id, d.text, d.attachments ?? [], /drop/.test(d.text) ? drop : () => undefined);
  } else {
    if (type === 'turn.cancel') s.cancelled.add(d.turn);
    send(frame('ack', s.id, { id, duplicate: false }));
  }
  return s;
}

server.listen(PORT, '127.0.0.1', () => console.log(`http://127.0.0.1:${PORT}`));
