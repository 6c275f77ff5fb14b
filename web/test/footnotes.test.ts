import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { footnoted } from '../src/footnotes';
import type { Citation } from '../src/protocol';
import { cite, points, span } from './dom';

const with_ = (text: string, items: Citation[]): Parameters<typeof footnoted>[0] => ({
  text,
  citations: { status: 'partial', items, unsupported: [], agreement: null },
});
const from = (item: Citation, more: Partial<Citation['source']>): Citation => ({ ...item, source: { ...item.source, ...more } });

describe('an answer with footnotes', () => {
  it('has its numbers behind the sentences and its sources below, each once', () => {
    const text = 'Leave is 25 days. Ask **first**. 🌴 Then go.';
    const [first, second] = [span(text, 'Leave is 25 days.'), span(text, 'Ask **first**.')];
    const leave = from(cite(2, first), { title: 'Leave', section: 'Leave > Staff', date: '2024-05-01', page: 3, uri: 'hr/leave.md', version: 4 });
    expect(footnoted(with_(text, [leave, cite(1, first), from(cite(2, second), { title: 'other' })]), 'en')).toBe(
      'Leave is 25 days.[1][2] Ask **first**.[2] 🌴 Then go.\n\nSources\n' +
        '[1] T, version 1, No date, u\n[2] Leave, Staff, version 4, 1 May 2024, page 3, hr/leave.md\n',
    );
    expect(footnoted(with_(text, [leave]), 'zh')).toContain('来源\n[2] Leave, Staff, 第 4 版, 2024年5月1日, 第 3 页, hr/leave.md');
  });

  it('is the answer alone where nothing is cited', () => {
    expect(footnoted({ text: 'a', citations: null }, 'en')).toBe('a');
    expect(footnoted(with_('a', []), 'en')).toBe('a');
  });

  it('cannot be given another note by a title', () => {
    const hostile = from(cite(1, { start: 0, end: 1 }), { title: 'T\n[2] Forged\u2028[3] x' });
    const notes = footnoted(with_('ab', [hostile]), 'en').split('\n\nSources\n')[1]!;
    expect(notes.trim().split(/[\n\u2028]/)).toHaveLength(1);
  });

  it('is the answer letter by letter when its numbers are taken out', () => {
    const places = fc.array(fc.tuple(fc.nat(40), fc.nat(40)), { maxLength: 6 });
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), places, (raw, spans) => {
        const text = raw.replace(/[[\]]/g, '');
        const items = spans.map(([a, b], i) => {
          const start = Math.min(a, points(text));
          return cite(i + 1, { start, end: Math.min(start + b + 1, points(text)) });
        });
        const [body] = footnoted(with_(text, items), 'en').split(/\n\nSources\n(?=\[)/);
        expect(items.length ? body!.replace(/\[\d+\]/g, '') : body).toBe(text);
      }),
    );
  });
});
