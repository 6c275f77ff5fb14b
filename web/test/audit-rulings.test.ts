// @vitest-environment happy-dom
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ApiError } from '../src/api';
import { AssistantAudit } from '../src/audit/audit';
import { refusedOf } from '../src/audit/failure';
import { refusalText } from '../src/audit/notices';
// Here before the page asks for it, so that no test ends while it is on its way.
import { AssistantAuditRecord } from '../src/audit/record';
import { openedOf } from '../src/audit/records';
import { replayOf } from '../src/audit/replay';
import { NO_RULINGS, type RulingState } from '../src/audit/rulings';
import { auditWords } from '../src/audit/words';
import type { Locale } from '../src/i18n';
import { item, opened, replayed } from './audit-bodies';

const HOSTILE = '<img src=x onerror=alert(1)></blockquote><script>alert(2)</script>';
const REASON = '投诉 7';

interface Posted {
  path: string;
  reason: string | undefined;
  type: string | undefined;
  body: unknown;
}
/** What was posted, and what the server says to it: a status with its error, else the body. */
let posted: Posted[];
let said: unknown;
let roles: string[];

const correction = (texts: object | null = { correction: 'You get 25 days.' }): Record<string, unknown> =>
  opened({ texts, sources: [], evidence: [] }, { id: 'r7', kind: 'correction', body: {} });
let record: unknown;

beforeEach(() => {
  posted = [];
  roles = ['admin', 'auditor', 'user'];
  record = opened();
  location.hash = '';
  vi.stubGlobal('fetch', async (url: string, { method, headers, body }: { method?: string; headers: Record<string, string>; body?: string }) => {
    const path = url.replace(/^.*\/api\//, '');
    if (method !== 'POST') return answer(path === 'config' ? { roles } : path.startsWith('audit/records/') ? record : { records: [item(7)] });
    posted.push({ path, reason: headers['X-Audit-Reason'], type: headers['Content-Type'], body: JSON.parse(body!) });
    return answer(await said);
  });
});

function answer(body: unknown): object {
  const refused = body instanceof ApiError ? body : null;
  return {
    ok: !refused,
    status: refused?.status ?? 200,
    json: async () => (refused ? { error: { code: refused.code, reason: refused.reason } } : body),
  };
}

afterEach(() => {
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

async function settled(page: AssistantAudit | AssistantAuditRecord): Promise<void> {
  for (let i = 0; i < 8; i++) {
    await new Promise((done) => setTimeout(done));
    await page.updateComplete;
  }
}

const w = auditWords('en');
const text = (root: ParentNode, selector: string): string =>
  [...root.querySelectorAll(selector)].map((one) => one.textContent!.replace(/\s+/g, ' ').trim()).join(' | ');
const button = (root: ParentNode, name: string): HTMLElement | undefined =>
  [...root.querySelectorAll('button')].find((one) => one.textContent!.trim() === name);

/** The page with the record opened, and what stands in it. */
async function visit(): Promise<{ page: AssistantAudit; root: ShadowRoot }> {
  const page = new AssistantAudit();
  Object.assign(page, { locale: 'en', src: 'https://desk.example' });
  document.body.append(page);
  await settled(page);
  page.shadowRoot!.querySelector<HTMLElement>('[data-record]')!.click();
  await settled(page);
  page.shadowRoot!.querySelector('textarea')!.value = REASON;
  page.shadowRoot!.querySelector('dialog form')!.dispatchEvent(new Event('submit', { cancelable: true }));
  await settled(page);
  return { page, root: page.shadowRoot!.querySelector('assistant-audit-record')!.shadowRoot! };
}

async function again(page: AssistantAudit, root: ShadowRoot, model = ''): Promise<void> {
  root.querySelector<HTMLInputElement>('input[name=model]')!.value = model;
  root.querySelector('form.again')!.dispatchEvent(new Event('submit', { cancelable: true }));
  await settled(page);
}

/** An opened record by itself, with what was done about it. */
async function shown(body: object, rulings: Partial<RulingState>, locale: Locale = 'en'): Promise<ShadowRoot> {
  const element = new AssistantAuditRecord();
  Object.assign(element, { opened: openedOf(body), remarks: [], locale, rulings: { ...NO_RULINGS, ...rulings } });
  document.body.append(element);
  await settled(element);
  return element.shadowRoot!;
}
const done = (body: unknown): Partial<RulingState> => ({ replayed: { record: 'r7', done: replayOf(body), refused: null } });

describe('answering again', () => {
  it('asks with the reason of the visit, once at a time, and says that it works', async () => {
    let give: (body: unknown) => void = () => undefined;
    said = new Promise((done) => (give = done));
    const { page, root } = await visit();
    await again(page, root);
    expect(posted).toEqual([
      { path: 'audit/records/r7/replay', reason: encodeURIComponent(REASON), type: 'application/json', body: {} },
    ]);
    expect(root.querySelector('[role=status] progress')).not.toBeNull();
    expect(button(root, w.again.act)!.getAttribute('aria-disabled')).toBe('true');
    await again(page, root);
    expect(posted).toHaveLength(1);
    give(replayed());
    await settled(page);
    expect(root.querySelector('progress')).toBeNull();
    expect(text(root, '[role=status]')).toBe(w.again.differs);
    said = replayed({ same: true });
    await again(page, root, ' m-2 ');
    expect(posted[1]!.body).toEqual({ model: 'm-2' });
    expect(text(root, '[role=status]')).toBe(w.again.same);
  });

  it('shows both texts with the words that differ, and verdicts, citations and cost of both', async () => {
    const root = await shown(opened(), done(replayed()));
    const section = root.querySelector('section[aria-labelledby=again]')!;
    expect(text(section, 'figcaption')).toBe('Then m-1 | Now m-2');
    expect([text(section, 'del'), text(section, 'ins')]).toEqual(['[removed: 20 end]', '[added: 25 end]']);
    expect(text(section, 'li')).toBe(
      'supported→ partly supported Leave Ask first. | contradicted Leave The moon is green. | supported Leave You get 25 days. | ' +
        'Days of leave Then: The answer follows the preferred side.Now: The conflict was not shown. | ' +
        'Understand the question m-1 · 30 read, 4 written, $0.0020',
    );
    const rows = text(section, 'tbody tr').split(' | ');
    expect(rows).toContain('Modelm-1m-2');
    expect(rows).toContain('Sentences without a source10');
    expect(rows).toContain('Agreement with the sources3 of 5–');
    expect(rows).toContain('Tokens1,200 read, 20 written, 0 from cache900 read, 20 written, 0 from cache');
    expect(rows).toContain('Cost$0.0100–');
    expect(text(section, 'tbody b')).toContain('m-2');
    expect(text(section, 'tbody b')).not.toContain('p1');
    expect(text(section, 'tbody')).not.toContain(w.fact.first);
    expect(text(section, '.note.warn')).toContain('1 image');
  });

  it('says in words why there is no answer', async () => {
    const { page, root } = await visit();
    const refusals: [number, string, string, string][] = [
      [429, 'busy', '', w.again.errors['busy']!],
      [503, 'model_unavailable', '', w.again.errors['model_unavailable']!],
      [500, 'bad_setting', '', w.again.errors['bad_setting']!],
      [422, 'bad_input', 'erased', w.again.errors['erased']!],
      [422, 'bad_input', 'body.model', w.again.errors['bad_input']!],
      [404, 'not_found', '', w.again.errors['not_found']!],
      [500, 'constructor', '', w.failed],
    ];
    for (const [status, code, reason, words] of refusals) {
      said = new ApiError(status, '', code, reason);
      await again(page, root, 'x');
      expect(text(root, '[role=status] .note.bad')).toBe(words);
    }
    said = replayed();
    await again(page, root);
    expect(root.querySelector('.note.bad')).toBeNull();
  });

  it('belongs to its own record, and is not offered where the text was erased', async () => {
    const other = await shown(opened({}, { id: 'r8' }), done(replayed()));
    expect(other.querySelector('section[aria-labelledby=again] figure')).toBeNull();
    const erased = await shown(opened({ texts: null, erased: true }), {});
    expect(button(erased, w.again.act)).toBeUndefined();
    expect(button(await shown(correction(), {}), w.again.act)).toBeUndefined();
  });

  it('reads what the server gives with care and takes it as text', async () => {
    fc.assert(fc.property(fc.anything(), (value) => void replayOf(value)));
    const citations = { kept: 1, added: [{ title: HOSTILE, exact: HOSTILE, verdict: HOSTILE }], lost: [null], rejudged: [7] };
    const hostile = { new: HOSTILE, text: 'x', citations, conflicts: [{ topic: HOSTILE, followed: null }], left_out: [{ purpose: HOSTILE }] };
    for (const locale of ['en', 'zh'] as const) {
      const root = await shown(opened(), done(replayed(hostile)), locale);
      expect(root.querySelectorAll('img, script')).toHaveLength(0);
      expect(text(root, 'section[aria-labelledby=again] figure:last-child blockquote')).toBe(HOSTILE);
    }
  });
});

describe('the answer of record', () => {
  it('is made of a correction with the reason of the visit, once', async () => {
    record = correction();
    let give: (body: unknown) => void = () => undefined;
    said = new Promise((done) => (give = done));
    const { page, root } = await visit();
    button(root, w.adopt.act)!.click();
    await settled(page);
    expect(text(root, '[role=status]')).toBe(w.adopt.running);
    give({ id: 'a1', question: `How many? ${HOSTILE}`, text: 'You get 25 days.' });
    await settled(page);
    expect(text(root, '[role=status]')).toBe(`${w.adopt.done} How many? ${HOSTILE}`);
    expect(root.querySelectorAll('img, script')).toHaveLength(0);
    button(root, w.adopt.act)!.click();
    await settled(page);
    expect(posted).toEqual([
      { path: 'audit/answers', reason: encodeURIComponent(REASON), type: 'application/json', body: { correction: 'r7' } },
    ]);
  });

  it('is offered to auditors who are administrators, for corrections whose words are kept', async () => {
    record = correction();
    for (const some of [['auditor'], ['admin'], []]) {
      roles = some;
      expect(button((await visit()).root, w.adopt.act)).toBeUndefined();
      document.body.replaceChildren();
    }
    expect(button(await shown(correction(), { mayAdopt: true }), w.adopt.act)).toBeDefined();
    expect(button(await shown(correction(null), { mayAdopt: true }), w.adopt.act)).toBeUndefined();
    expect(button(await shown(opened(), { mayAdopt: true }), w.adopt.act)).toBeUndefined();
  });

  it('says in words why it was not made, and can be tried again', async () => {
    record = correction();
    const { page, root } = await visit();
    const refusals: [number, string, string][] = [[422, 'bad_input', 'no_answer'], [422, 'bad_input', 'erased'], [404, 'not_found', '']];
    for (const [status, code, reason] of refusals) {
      said = new ApiError(status, '', code, reason);
      button(root, w.adopt.act)!.click();
      await settled(page);
      expect(text(root, '.note.bad')).toBe(w.adopt.errors[reason || code]);
    }
    expect(posted).toHaveLength(refusals.length);
  });

  it('has words for what is not known to the server alone', () => {
    expect(refusalText(refusedOf(new TypeError('network')), w.adopt.errors, w)).toBe(w.failed);
    expect(refusalText(refusedOf(new ApiError(401, '', 'token_expired')), w.adopt.errors, w)).toBe(w.signedOut);
  });
});
