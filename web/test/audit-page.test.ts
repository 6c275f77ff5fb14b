// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { AssistantAudit } from '../src/audit/audit';
// Here before the page asks for it, so that no test ends while it is on its way.
import '../src/audit/record';
import { auditWords } from '../src/audit/words';
import { item, opened } from './audit-bodies';

/** What was asked of the server: path with query, and the reason. */
let asked: { path: string; reason: string | null }[];
/** Answers by the start of the path; a number is the status of a refusal. */
let answers: Record<string, unknown>;

beforeEach(() => {
  asked = [];
  answers = {
    'records/r7': opened(),
    'records?turn=': { records: [], next: null },
    records: { records: [item(7)], next: null },
    figures: { since: '2024-01-01', until: '2024-01-02', days: [] },
  };
  location.hash = '';
  vi.stubGlobal('fetch', async (url: string, { headers }: { headers: Record<string, string> }) => {
    const path = url.replace(/^.*\/api\/audit\//, '');
    if (path === url) return { ok: true, status: 200, json: async () => ({}) };
    asked.push({ path, reason: headers['X-Audit-Reason'] ?? null });
    const key = Object.keys(answers).find((start) => path.startsWith(start));
    const answer = await (key === undefined ? 404 : answers[key]);
    const status = typeof answer === 'number' ? answer : 200;
    return { ok: status === 200, status, json: async () => answer, blob: async () => new Blob(['zip']) };
  });
});

afterEach(() => {
  document.body.replaceChildren();
  vi.unstubAllGlobals();
});

async function settled(page: AssistantAudit): Promise<void> {
  for (let i = 0; i < 8; i++) {
    await new Promise((done) => setTimeout(done));
    await page.updateComplete;
  }
}

async function visit(): Promise<AssistantAudit> {
  const page = new AssistantAudit();
  Object.assign(page, { locale: 'en', src: 'https://desk.example' });
  document.body.append(page);
  await settled(page);
  return page;
}

const w = auditWords('en');
const root = (page: AssistantAudit): ShadowRoot => page.shadowRoot!;
const button = (page: AssistantAudit, name: string): HTMLElement =>
  [...root(page).querySelectorAll('button')].find(
    (one) => one.textContent!.trim() === name || one.getAttribute('aria-label') === name,
  )!;
const rows = (page: AssistantAudit): number => root(page).querySelectorAll('tbody tr').length;
const why = async (page: AssistantAudit, reason: string): Promise<void> => {
  root(page).querySelector('textarea')!.value = reason;
  root(page).querySelector('dialog form')!.dispatchEvent(new Event('submit', { cancelable: true }));
  await settled(page);
};

describe('the audit page', () => {
  it('lists answers first, nothing that was said, and asks for no reason for that', async () => {
    const page = await visit();
    expect(asked).toEqual([{ path: 'records?kind=turn&limit=50', reason: null }]);
    expect(rows(page)).toBe(1);
    expect(root(page).querySelector('td.question')!.textContent).toContain(w.unopened);
  });

  it('loads the next page behind the last, and says when there are no more', async () => {
    answers['records'] = { records: [item(9), item(8)], next: 8 };
    const page = await visit();
    answers['records'] = { records: [item(7)], next: null };
    button(page, w.more).click();
    await settled(page);
    expect(asked[1]!.path).toBe('records?kind=turn&limit=50&before=8');
    expect(rows(page)).toBe(3);
    expect(button(page, w.more)).toBeUndefined();
    expect(root(page).textContent).toContain(w.noMore);
  });

  it('asks for a reason once in a visit, before anything is opened', async () => {
    const page = await visit();
    button(page, w.open(7)).click();
    await settled(page);
    expect(root(page).querySelector('dialog')!.open).toBe(true);
    expect(asked).toHaveLength(1);
    await why(page, '   ');
    expect(asked).toHaveLength(1);
    await why(page, ' 投诉 7 ');
    expect(asked[1]).toEqual({ path: 'records/r7', reason: encodeURIComponent('投诉 7') });
    expect(root(page).querySelector('assistant-audit-record')).not.toBeNull();
    root(page).querySelector('assistant-audit-record')!.dispatchEvent(new CustomEvent('close-record', { bubbles: true }));
    await settled(page);
    expect(root(page).querySelector('td.question')!.textContent).toContain('How many days?');
    expect(root(page).activeElement).toBe(button(page, w.open(7)));
    button(page, w.open(7)).click();
    await settled(page);
    expect(root(page).querySelector('dialog')!.open).toBe(false);
    expect(asked.filter(({ path }) => path === 'records/r7')).toHaveLength(2);
  });

  it('opens nothing when no reason is given', async () => {
    const page = await visit();
    button(page, w.open(7)).click();
    await settled(page);
    button(page, w.cancel).click();
    await settled(page);
    expect(asked).toHaveLength(1);
    expect(root(page).querySelector('dialog')!.open).toBe(false);
  });

  it('opens with an answer what people said about it, each look with the reason', async () => {
    answers['records?turn='] = { records: [item(9, { kind: 'view' }), item(8, { kind: 'correction' }), item(7)], next: null };
    answers['records/r8'] = opened({ texts: { correction: '25' } }, { id: 'r8', kind: 'correction' });
    const page = await visit();
    button(page, w.open(7)).click();
    await why(page, 'x');
    expect(asked.slice(1)).toEqual([
      { path: 'records/r7', reason: 'x' },
      { path: 'records?turn=t7&limit=100', reason: null },
      { path: 'records/r8', reason: 'x' },
    ]);
  });

  it('has nothing for those without the role', async () => {
    answers = {};
    const page = await visit();
    expect(root(page).textContent!.trim()).toBe(w.nothing);
    expect(root(page).querySelectorAll('button, input, table')).toHaveLength(0);
  });

  it('says what failed and tries again', async () => {
    answers['records'] = 503;
    const page = await visit();
    expect(root(page).querySelector('[role=alert]')!.textContent).toContain(w.failed);
    answers['records'] = { records: [item(7)], next: null };
    button(page, w.tryAgain).click();
    await settled(page);
    expect(rows(page)).toBe(1);
    expect(root(page).querySelector('[role=alert]')).toBeNull();
  });

  it('follows the address, and the last question counts', async () => {
    let late: (page: unknown) => void = () => undefined;
    answers['records?kind=view'] = new Promise((give) => (late = give));
    answers = { 'records?kind=view': answers['records?kind=view'], ...answers };
    const page = await visit();
    location.hash = 'kind=view';
    window.dispatchEvent(new Event('hashchange'));
    await settled(page);
    location.hash = 'verdict=partial';
    window.dispatchEvent(new Event('hashchange'));
    await settled(page);
    late({ records: [item(1), item(2), item(3)], next: null });
    await settled(page);
    expect(asked.map(({ path }) => path.replace('&limit=50', ''))).toEqual([
      'records?kind=turn',
      'records?kind=view',
      'records?kind=turn&verdict=partial',
    ]);
    expect(rows(page)).toBe(1);
  });

  it('verifies once at a time and shows the first record that does not fit', async () => {
    let done: (found: unknown) => void = () => undefined;
    answers['verify'] = new Promise((give) => (done = give));
    const page = await visit();
    button(page, w.verify).click();
    await settled(page);
    expect(root(page).querySelector('progress')).not.toBeNull();
    button(page, w.verify).click();
    await settled(page);
    expect(button(page, w.verify).getAttribute('aria-disabled')).toBe('true');
    expect(asked.filter(({ path }) => path === 'verify')).toHaveLength(1);
    done({ ok: false, checked: 6, covered: 6, seq: 7, reason: 'wrong_hash' });
    await settled(page);
    expect(root(page).querySelector('.verdict.bad')!.textContent).toContain('number 7');
    expect(root(page).querySelectorAll('tr.broken')).toHaveLength(1);
    answers['verify'] = 429;
    button(page, w.verify).click();
    await settled(page);
    expect(root(page).textContent).toContain(w.verifyBusy);
  });

  it('exports what the filters show, with a reason, and says who may not', async () => {
    vi.spyOn(URL, 'createObjectURL').mockReturnValue('blob:x');
    const saved = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(() => undefined);
    answers['export'] = {};
    const page = await visit();
    button(page, w.export).click();
    await settled(page);
    await why(page, 'review');
    expect(asked.at(-1)).toEqual({ path: 'export?kind=turn', reason: 'review' });
    expect(saved).toHaveBeenCalledTimes(1);
    answers['export'] = 404;
    button(page, w.export).click();
    await settled(page);
    expect(root(page).textContent).toContain(w.noExport);
    expect(saved).toHaveBeenCalledTimes(1);
  });
});
