import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { describe, expect, it } from 'vitest';

import { KINDS, VERDICTS } from '../src/audit/filters';
import { seriesText, timeText, valueText } from '../src/audit/said';
import { auditEn } from '../src/audit/words/en';
import { auditZh } from '../src/audit/words/zh';

const leaves = (value: object, path = ''): [string, unknown][] =>
  Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'object' && inner !== null ? leaves(inner as object, `${path}${key}.`) : [[path + key, inner] as [string, unknown]],
  );
const server = (path: string): string => readFileSync(resolve(import.meta.dirname, '../../assistant', path), 'utf8');
/** The values of an enumeration of the server. */
const values = (path: string, name: string): string[] => {
  const body = server(path).split(`class ${name}(StrEnum):`)[1]!.split(/\n(?=\S)/)[0]!;
  return [...body.matchAll(/^ {4}[A-Z_]+ = "(\w+)"/gm)].map(([, value]) => value!);
};

describe('the words of the audit page', () => {
  it('are the same set in both languages, of the same form, none empty', () => {
    const [en, zh] = [leaves(auditEn), leaves(auditZh)];
    expect(zh.map(([key]) => key).sort()).toEqual(en.map(([key]) => key).sort());
    for (const [key, value] of [...en, ...zh]) expect(value, key).toBeTruthy();
    for (const [key, value] of zh) expect(typeof value, key).toBe(typeof en.find(([other]) => other === key)![1]);
  });

  it('name every kind, verdict, and reason why a log does not fit', () => {
    expect(values('core/audit.py', 'AuditKind').sort()).toEqual([...KINDS].sort());
    for (const kind of KINDS) expect(auditEn.kinds[kind], kind).toBeTruthy();
    expect([...values('core/citations.py', 'Verdict')].sort()).toEqual([...VERDICTS].sort());
    const reasons = values('audit/verifying.py', 'Reason');
    expect(reasons.length).toBeGreaterThan(10);
    for (const reason of reasons) expect(auditEn.reasons[reason], reason).toBeTruthy();
  });

  it('stand for names of the server; unknown names are shown as they are', () => {
    expect(seriesText('en', 'partial')).toBe('partly supported');
    expect(seriesText('zh', 'refine')).not.toBe('refine');
    expect(seriesText('en', 'constructor')).toBe('constructor');
    expect([valueText('en', 1200), valueText('en', 0.5)]).toEqual(['1,200', '0.5000']);
    expect(timeText('en', 'never')).toBe('never');
    expect(timeText('en', '2024-05-01T12:00:00Z')).toContain('2024');
  });
});
