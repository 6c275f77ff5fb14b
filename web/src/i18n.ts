/** Which language the interface speaks, and how it writes dates, numbers and errors. */

import { en, type Words } from './words/en';
import { zh } from './words/zh';

export type { Words };
export type Locale = 'en' | 'zh';

/** The first wanted language that there are words for; English otherwise. */
export function pickLocale(wanted: readonly string[]): Locale {
  const known = wanted.map((tag) => tag.toLowerCase().split(/[-_]/)[0]).find((tag) => tag === 'zh' || tag === 'en');
  return known === 'zh' ? 'zh' : 'en';
}

export const words = (locale: Locale): Words => (locale === 'zh' ? zh : en);

/** The words for a name that came from outside; undefined where there are none, also for names such as `constructor`. */
export const wordsFor = (known: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(known, name) ? known[name] : undefined;

/** What a stable error code means to a person; unknown codes are an internal error. */
export const errorText = (w: Words, code: string): string => wordsFor(w.errors, code) ?? w.errors['internal'] ?? code;

export const closeText = (w: Words, code: number): string => w.closed[code] ?? w.closedOther;

/** A calendar day such as 2024-05-01, in words; what is not a date is shown as it is. */
export function dayText(locale: Locale, iso: string): string {
  const day = new Date(`${/^\d{4}-\d{2}-\d{2}/.exec(iso)?.[0] ?? ''}T00:00:00Z`);
  if (Number.isNaN(day.getTime())) return iso;
  return day.toLocaleDateString(tag(locale), { year: 'numeric', month: 'short', day: 'numeric', timeZone: 'UTC' });
}

/** A moment as the time of today or the day, by the reader's clock. */
export function momentText(locale: Locale, iso: string, now: Date = new Date()): string {
  const moment = new Date(iso);
  if (Number.isNaN(moment.getTime())) return '';
  return moment.toDateString() === now.toDateString()
    ? moment.toLocaleTimeString(tag(locale), { hour: '2-digit', minute: '2-digit' })
    : moment.toLocaleDateString(tag(locale), { month: 'short', day: 'numeric' });
}

/** The headings above a passage, without the title of the document, which stands beside them. */
export function sectionText(title: string, section: string): string {
  const parts = section.split(' > ').filter(Boolean);
  return (parts[0] === title ? parts.slice(1) : parts).join(' › ');
}

export const countText = (locale: Locale, n: number): string => n.toLocaleString(tag(locale));

/** Milliseconds as seconds with one digit. */
export const secondsText = (locale: Locale, ms: number): string =>
  `${(ms / 1000).toLocaleString(tag(locale), { maximumFractionDigits: 1 })} ${locale === 'zh' ? '秒' : 's'}`;

const tag = (locale: Locale): string => (locale === 'zh' ? 'zh-CN' : 'en-GB');
