// @vitest-environment happy-dom
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';

import { turnOf } from '../src/audit/answer-turn';
import { headersOf } from '../src/audit/api';
import { verdictLines } from '../src/audit/chain';
import { citedPlaces } from '../src/audit/cited';
import { AssistantAuditRecord } from '../src/audit/record';
import { citationsOf, conflictsOf, openedOf, pageOf, usageOf, verifiedOf, type Fields } from '../src/audit/records';
import { auditWords } from '../src/audit/words';
import type { Locale } from '../src/i18n';
import { ANSWER, cited, item, opened } from './audit-bodies';

const HOSTILE = '<img src=x onerror=alert(1)></blockquote><script>alert(2)</script>';

afterEach(() => document.body.replaceChildren());

describe('what the server gives', () => {
  it('is read with care', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const body = (typeof value === 'object' && value !== null ? value : {}) as Fields;
        pageOf(value);
        verifiedOf(value);
        citationsOf(body);
        conflictsOf(body);
        usageOf(body);
        const found = openedOf({ record: { id: 'r', body: value }, texts: value, evidence: value, sources: [value], plan: value });
        citedPlaces(turnOf(found), found);
      }),
    );
    expect(() => openedOf({})).toThrow(TypeError);
  });

  it('is a page of records and where the next one begins', () => {
    const page = pageOf({ records: [item(9, { source_changed: true }), null], next: 9 });
    expect(page.records.map(({ seq, sourceChanged }) => [seq, sourceChanged])).toEqual([
      [9, true],
      [0, false],
    ]);
    expect(page.next).toBe(9);
  });

  it('keeps citations that can be drawn', () => {
    const items = [cited(0, 4), cited(0, 4, { n: 'x' }), cited(0, 4, { verdict: 'fine' }), cited(0, 4, { source: {} }), null];
    expect(citationsOf({ citations: { items } })?.items).toHaveLength(1);
    expect(citationsOf({ citations: 'x' })).toBeNull();
  });
});

describe('headers', () => {
  it('hold the reason percent-encoded, whatever it is, and the token', () => {
    const reason = '投诉 7: 50 % \r\nX-Other: 1';
    const headers = headersOf('*/*', 'token', reason);
    expect(headers['Authorization']).toBe('Bearer token');
    expect(headers['X-Audit-Reason']).toMatch(/^[\x21-\x7e]+$/);
    expect(decodeURIComponent(headers['X-Audit-Reason']!)).toBe(reason);
    expect(headersOf('*/*', null)).toEqual({ Accept: '*/*' });
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void headersOf('*/*', null, text)));
    expect(decodeURIComponent(headersOf('*/*', null, 'a\ud800b')['X-Audit-Reason']!)).toBe('a\ufffdb');
  });
});

describe('a verification in words', () => {
  const say = (more: object): string => verdictLines(verifiedOf({ ok: true, checked: 9, covered: 7, ...more }), auditWords('en')).join(' ');

  it('says how far signatures reach and what stands outside', () => {
    expect(say({ external: 3, targets: 1 })).toBe(
      'Intact: all of 9 records are what was written. Signed checkpoints reach to record 7. ' +
        '2 later records are held by the chain alone. 3 checkpoints kept in 1 place outside of the database agree.',
    );
    expect(say({ covered: 0, unsigned: 9 })).toContain('No checkpoint is signed yet.');
    expect(say({ covered: 9 })).not.toContain('chain alone');
  });

  it('names the first record that does not fit, or the range, and why', () => {
    expect(say({ ok: false, seq: 5, reason: 'wrong_hash', checked: 4 })).toBe(
      'The log is not what was written. The first record that does not fit is number 5. ' +
        'It is not what its hash was computed from. 4 records before it fit.',
    );
    expect(say({ ok: false, seq: 5, until: 8, reason: 'wrong_root' })).toContain('one of the numbers 5 to 8');
    expect(say({ ok: false, seq: null, reason: 'constructor' })).toContain('constructor');
  });
});

describe('the cited places', () => {
  it('are each there once, with all that rests on them', () => {
    const other = cited(21, 39, { n: 2, source: { ...(cited(0, 1) as { source: object }).source, start: 99, exact: 'Other.' } });
    const body = { citations: { items: [other, cited(0, 20), cited(21, 39)] } };
    const found = openedOf(opened({}, { body }));
    const places = citedPlaces(turnOf(found), found);
    expect(places.map(({ citation, sentences, past }) => [citation.n, sentences.length, past?.state ?? null])).toEqual([
      [1, 2, 'changed'],
      [2, 1, null],
    ]);
  });
});

async function shown(body: object, more: object = {}, locale: Locale = 'en'): Promise<ShadowRoot> {
  const element = new AssistantAuditRecord();
  Object.assign(element, { opened: openedOf(body), remarks: [], locale, ...more });
  document.body.append(element);
  for (let i = 0; i < 3; i++) {
    await new Promise((done) => setTimeout(done));
    await element.updateComplete;
  }
  return element.shadowRoot!;
}
const text = (root: ShadowRoot, selector: string): string =>
  [...root.querySelectorAll(selector)].map((one) => one.textContent!.replace(/\s+/g, ' ').trim()).join(' | ');

describe('an opened answer', () => {
  it('shows the answer with its citations and doubts, and the passage then and now', async () => {
    const root = await shown(opened());
    expect(text(root, '.paper strong')).toBe('20 days');
    expect(root.querySelector('.paper button.cite')!.getAttribute('aria-label')).toContain('Source 1: Leave');
    expect(text(root, '.paper span.unsupported')).toContain('The moon is green');
    expect(text(root, '.cited del')).toContain('20');
    expect(text(root, '.cited ins')).toContain('25');
    expect(text(root, '.rests q')).toContain('20 days');
    expect(text(root, 'dl')).toContain('everyone, staff');
    expect(text(root, 'dl')).toContain('$0.0100');
    expect(text(root, 'dl')).toContain('before');
    expect(root.activeElement?.tagName).toBe('H2');
  });

  it('goes from a number to its source', async () => {
    const root = await shown(opened());
    root.querySelector<HTMLElement>('.paper button.cite')!.click();
    expect(root.activeElement?.id).toBe('source-0');
  });

  it('says what the last verification says of this very record', async () => {
    const w = auditWords('en');
    const about = async (body: object): Promise<string> => text(await shown(opened(), { verified: verifiedOf(body) }), 'section');
    expect(await about({ ok: true, checked: 9, covered: 7 })).toContain(w.verifiedOver);
    expect(await about({ ok: true, checked: 9, covered: 6 })).toContain(w.verifiedTail);
    expect(await about({ ok: true, checked: 6, covered: 6 })).toContain(w.notVerified);
    expect(await about({ ok: false, checked: 6, covered: 6, seq: 7 })).toContain(w.verifiedUnder);
    expect(await about({ ok: false, checked: 8, covered: 8, seq: 9 })).toContain(w.verifiedOver);
  });

  it('says that its text was erased, or changed by somebody', async () => {
    for (const locale of ['en', 'zh'] as const) {
      const w = auditWords(locale);
      expect(text(await shown(opened({ texts: null, erased: true }), {}, locale), '.note')).toBe(w.erased);
      expect(text(await shown(opened({ texts: null, tampered: true }), {}, locale), '[role=alert]')).toBe(w.tampered);
    }
  });

  it('has a correction beside the original', async () => {
    const said = openedOf(opened({ texts: { reason: 'wrong', correction: 'You get 25 days.' } }, { id: 'r8', kind: 'correction' }));
    const remark = { item: pageOf({ records: [item(8, { kind: 'correction', rating: 'down' })] }).records[0], opened: said };
    const root = await shown(opened(), { remarks: [remark] });
    expect(text(root, '.remark blockquote')).toBe(`${ANSWER} | You get 25 days.`);
    expect(text(root, '.remark .said')).toBe('wrong');
  });

  it('takes everything as text', async () => {
    const source = { ...(cited(0, 1) as { source: object }).source, title: HOSTILE, uri: 'javascript:alert(1)', section: HOSTILE };
    const body = {
      mode: HOSTILE, model: HOSTILE, rights: { groups: [HOSTILE] }, parameters: { [HOSTILE]: HOSTILE },
      citations: { items: [cited(0, 20, { source })] },
    };
    const texts = { question: HOSTILE, answer: `${HOSTILE} [x](javascript:alert(1)) ![y](https://evil.example/p.png)` };
    const evidence = [{ id: 'e', title: HOSTILE, section: HOSTILE, uri: HOSTILE, exact: HOSTILE, flags: [HOSTILE] }];
    const root = await shown(opened({ texts, evidence }, { body, subject: HOSTILE, hash: HOSTILE }));
    expect(root.querySelectorAll('img, script, iframe')).toHaveLength(0);
    expect([...root.querySelectorAll('a')].map((link) => link.protocol)).toEqual(['https:']);
    const feedback = await shown(opened({ texts: { reason: HOSTILE } }, { kind: 'feedback', body: { reason: HOSTILE, x: HOSTILE } }));
    expect(feedback.querySelectorAll('img, script, a')).toHaveLength(0);
    expect(text(feedback, '.said')).toBe(HOSTILE);
  });
});
