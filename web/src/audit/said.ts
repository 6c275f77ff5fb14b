/** Names of the server in words, moments and sizes as auditors read them. */

import { countText, words, wordsFor, type Locale } from '../i18n';
import { auditWords } from './words';

/** A moment to the second, by the reader's clock. */
export function timeText(locale: Locale, iso: string): string {
  const moment = new Date(iso);
  if (Number.isNaN(moment.getTime())) return iso;
  return moment.toLocaleString(locale === 'zh' ? 'zh-CN' : 'en-GB', {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
}

export const modeText = (locale: Locale, mode: string): string => wordsFor(words(locale).modes, mode) ?? mode;

/** A line of a chart: a verdict, a mode, or one of the words. */
export function seriesText(locale: Locale, name: string): string {
  const w = auditWords(locale);
  return wordsFor(w.verdicts, name) ?? wordsFor(w.series, name) ?? modeText(locale, name);
}

/** Whole numbers as counts, fractions (dollars) with four digits. */
export const valueText = (locale: Locale, value: number): string =>
  Number.isInteger(value) ? countText(locale, value) : value.toFixed(4);
