import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  closeText,
  dayText,
  errorText,
  momentText,
  pickLocale,
  secondsText,
  sectionText,
  words,
  wordsFor,
} from '../src/i18n';
import { excerpt, withoutMarkup } from '../src/plain';
import { ulid } from '../src/ulid';
import { ANSWER_WORDS } from '../src/words/answer';
import { en } from '../src/words/en';
import { FILE_WORDS } from '../src/words/files';
import { LIST_WORDS } from '../src/words/list';
import { OPTIONS_WORDS } from '../src/words/options';
import { planWords } from '../src/words/plan';
import { planEn } from '../src/words/plan-en';
import { planZh } from '../src/words/plan-zh';
import { SOURCE_WORDS } from '../src/words/source';
import { zh } from '../src/words/zh';

const keys = (value: object, path = ''): string[] =>
  Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'object' && inner !== null ? keys(inner as object, `${path}${key}.`) : [path + key],
  );

const CATALOGUES: readonly { en: object; zh: object }[] = [ANSWER_WORDS, SOURCE_WORDS, OPTIONS_WORDS, LIST_WORDS, FILE_WORDS];

describe('words', () => {
  it('are the same set in both languages, none empty but where nothing is said', () => {
    expect(keys(zh).sort()).toEqual(keys(en).sort());
    expect(keys(planZh).sort()).toEqual(keys(planEn).sort());
    for (const both of CATALOGUES) expect(keys(both.zh).sort()).toEqual(keys(both.en).sort());
    const empty = (value: object): string[] =>
      keys(value).filter(
        (path) => path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], value) === '',
      );
    for (const all of [en, zh, ...CATALOGUES.flatMap((both) => [both.en, both.zh])])
      expect(empty(all).filter((path) => path !== 'followed.silent')).toEqual([]);
  });

  it('name every error code and close code that the server knows', () => {
    for (const code of [
      'internal',
      'bad_input',
      'question_too_long',
      'not_authenticated',
      'not_found',
      'idempotency_mismatch',
      'busy',
      'model_output_invalid',
      'turn_failed',
      'model_unavailable',
      'context_overflow',
      'model_misconfigured',
      'interrupted',
      'token_expired',
      'access_revoked',
      'other_user',
      'bad_document',
    ]) {
      expect(en.errors[code], code).toBeTruthy();
    }
    expect(errorText(en, 'something_new')).toBe(en.errors['internal']);
    expect(closeText(zh, 4501)).toBe(zh.closed[4501]);
    expect(closeText(zh, 4599)).toBe(zh.closedOther);
  });

  it('name every mode and every reason of the policy, each mode with one line of what it does', () => {
    const policy = readFileSync(resolve(import.meta.dirname, '../../docs/modes.md'), 'utf8');
    const rows = [...policy.matchAll(/^\| `(\w+)` \|[^|]*\| (\w+)/gm)];
    expect(rows.length).toBeGreaterThan(10);
    for (const [, code, mode] of rows) {
      expect(planEn.reasons[code!], code).toBeTruthy();
      if (mode !== 'that') expect(en.modes[mode!], mode).toBeTruthy();
    }
    expect(Object.keys(OPTIONS_WORDS.en.modeNotes)).toEqual(Object.keys(en.modes));
    for (const note of Object.values(OPTIONS_WORDS.en.modeNotes)) expect(note.length).toBeLessThan(90);
  });

  it('are never found under a name that every object has', () => {
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty', '']) {
      expect(wordsFor(en.modes, name)).toBeUndefined();
      expect(errorText(en, name)).toBe(en.errors['internal']);
    }
  });

  it('count properly', () => {
    expect(planWords('en').usageCalls(1)).toBe('1 model call');
    expect(planWords('en').usageCalls(1200)).toBe('1,200 model calls');
    expect(planWords('zh').usageCalls(2)).toBe('调用模型 2 次');
    expect(words('en').tooLong(1)).toBe('1 character too long');
  });
});

describe('the language', () => {
  it('is the first wanted one that is known', () => {
    expect(pickLocale(['de-DE', 'zh-TW', 'en'])).toBe('zh');
    expect(pickLocale(['en-GB', 'zh'])).toBe('en');
    expect(pickLocale(['fr'])).toBe('en');
    expect(pickLocale([])).toBe('en');
  });
});

describe('sections', () => {
  it('do not repeat the title', () => {
    expect(sectionText('Leave', 'Leave > Staff > Full time')).toBe('Staff › Full time');
    expect(sectionText('Leave', 'Leave')).toBe('');
    expect(sectionText('Leave', '')).toBe('');
    expect(sectionText('Leave', 'Leavers > A')).toBe('Leavers › A');
  });
});

describe('dates', () => {
  it('are the day that was written, in any time zone', () => {
    expect(dayText('en', '2024-05-01')).toBe('1 May 2024');
    expect(dayText('zh', '2024-05-01')).toBe('2024年5月1日');
    expect(dayText('en', 'spring 2024')).toBe('spring 2024');
  });

  it('of conversations are a time today and a day before', () => {
    const now = new Date('2024-05-02T12:00:00');
    expect(momentText('en', '2024-05-02T09:05:00', now)).toBe('09:05');
    expect(momentText('en', '2024-05-01T09:05:00', now)).toBe('1 May');
    expect(momentText('en', 'never', now)).toBe('');
  });

  it('of durations are seconds', () => {
    expect(secondsText('en', 480)).toBe('0.5 s');
    expect(secondsText('zh', 2900)).toBe('2.9 秒');
  });
});

describe('plain words', () => {
  it('are what is said or quoted of an answer', () => {
    expect(withoutMarkup('## Title\n- **One** `two`\n1. three | four |')).toBe('Title\n One two\n three   four');
    expect(excerpt('🌴 - **25 days** then', { start: 2, end: 15 })).toBe('25 days');
  });
});

describe('ulid', () => {
  it('has 26 signs that sort by time', () => {
    expect(ulid(1469918176385, new Uint8Array(16))).toBe('01ARYZ6S410000000000000000');
    fc.assert(
      fc.property(fc.nat(2 ** 31), fc.nat(2 ** 31), fc.uint8Array({ minLength: 16, maxLength: 16 }), (a, b, bytes) => {
        expect(ulid(a, bytes)).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
        if (a < b) expect(ulid(a, bytes) < ulid(b, bytes)).toBe(true);
      }),
    );
    expect(ulid()).not.toBe(ulid());
  });
});
