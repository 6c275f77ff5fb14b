// @vitest-environment happy-dom
import fc from 'fast-check';
import { render } from 'lit';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { filterForm } from '../src/audit/filter-form';
import {
  CHOICES,
  DEFAULTS,
  FIELDS,
  dayAfter,
  fromFragment,
  same,
  toFragment,
  toQuery,
  type Field,
  type Filters,
} from '../src/audit/filters';

const day = fc
  .integer({ min: 0, max: 40_000 })
  .map((n) => new Date(n * 86_400_000).toISOString().slice(0, 10));
const word = fc.string({ maxLength: 30, unit: 'binary' }).map((text) => text.trim());
const valueOf = (field: Field): fc.Arbitrary<string> => {
  if (CHOICES[field]) return fc.constantFrom('', ...CHOICES[field]);
  return field === 'since' || field === 'until' ? fc.oneof(fc.constant(''), day) : word;
};
const filters: fc.Arbitrary<Filters> = fc.record(
  Object.fromEntries(FIELDS.map((field) => [field, valueOf(field)])) as Record<Field, fc.Arbitrary<string>>,
);
/** Addresses hold well-formed text only. */
const wellFormed = (given: Filters): Filters =>
  fromFragment(`#${toFragment(given)}`);

afterEach(() => document.body.replaceChildren());

describe('filters in the fragment', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(filters, (given) => {
        fc.pre(FIELDS.every((field) => given[field].isWellFormed() && !(given[field] === 'any' && !CHOICES[field])));
        expect(wellFormed(given)).toEqual(given);
      }),
    );
  });

  it('say nothing when they are as at first, and that all kinds are wanted', () => {
    expect(toFragment(DEFAULTS)).toBe('');
    expect(fromFragment('')).toEqual(DEFAULTS);
    expect(DEFAULTS.kind).toBe('turn');
    const all = { ...DEFAULTS, kind: '' };
    expect(toFragment(all)).toBe('kind=any');
    expect(fromFragment('#kind=any')).toEqual(all);
  });

  it('take nothing that a field cannot have', () => {
    const found = fromFragment('#kind=x&verdict=%3Cimg%3E&conflict=1&since=2024-13-01&until=soon&person=%20ua%20&other=1');
    expect(found).toEqual({ ...DEFAULTS, kind: '', person: 'ua' });
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void fromFragment(text)));
    expect(fromFragment(`#document=${'d'.repeat(9000)}`).document).toHaveLength(2000);
  });

  it('differ when one field does', () => {
    expect(same(DEFAULTS, { ...DEFAULTS })).toBe(true);
    for (const field of FIELDS) expect(same(DEFAULTS, { ...DEFAULTS, [field]: 'other' })).toBe(false);
  });
});

describe('filters for the server', () => {
  it('are those that ask for something, and the last day is part of the time', () => {
    const given = { ...DEFAULTS, since: '2024-02-01', until: '2024-02-29', changed: 'true', document: 'a&b' };
    expect(Object.fromEntries(toQuery(given))).toEqual({
      kind: 'turn',
      since: '2024-02-01',
      until: '2024-03-01',
      changed: 'true',
      document: 'a&b',
    });
  });

  it('know the day after each day', () => {
    expect(['2023-02-28', '2024-12-31', '2024-02-30x', '', '9999-12-31'].map(dayAfter)).toEqual([
      '2023-03-01',
      '2025-01-01',
      '',
      '',
      '',
    ]);
  });
});

describe('the form', () => {
  it('shows what is set and gives what was written', () => {
    const apply = vi.fn();
    const place = document.body.appendChild(document.createElement('div'));
    const draw = (given: Filters): void =>
      void render(filterForm({ locale: 'en', filters: given, apply, clear: () => undefined }), place);
    const field = (name: string): HTMLInputElement => place.querySelector(`[name=${name}]`)!;
    draw({ ...DEFAULTS, document: '"><img src=x>' });
    expect([field('kind').value, field('document').value]).toEqual(['turn', '"><img src=x>']);
    expect(place.querySelector('img')).toBeNull();
    field('person').value = ' u1 ';
    field('verdict').value = 'partial';
    place.querySelector('form')!.dispatchEvent(new Event('submit', { cancelable: true }));
    expect(apply.mock.calls).toEqual([[{ ...DEFAULTS, verdict: 'partial', document: '"><img src=x>', person: 'u1' }]]);
    draw(DEFAULTS);
    expect([field('verdict').value, field('person').value]).toEqual(['', '']);
  });
});
