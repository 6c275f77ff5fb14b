/** What this browser remembers: the conversation of the tab, unsent questions, the language. Storage may be denied. */

import type { Locale } from './i18n';
import type { Pending } from './reducer';

export class Memory {
  constructor(private readonly scope: string) {}

  /** The tab's conversation, else the last one of any tab. */
  session(): string | null {
    return this.read('sessionStorage', 'session') ?? this.read('localStorage', 'session');
  }

  rememberSession(id: string | null): void {
    this.write('sessionStorage', 'session', id);
    this.write('localStorage', 'session', id);
  }

  locale(): Locale | null {
    const stored = this.read('localStorage', 'locale');
    return stored === 'en' || stored === 'zh' ? stored : null;
  }

  rememberLocale(locale: Locale): void {
    this.write('localStorage', 'locale', locale);
  }

  pending(session: string): Pending[] {
    try {
      const stored: unknown = JSON.parse(this.read('sessionStorage', `pending:${session}`) ?? '[]');
      return Array.isArray(stored) ? stored.filter(isPending) : [];
    } catch {
      return [];
    }
  }

  rememberPending(session: string, pending: readonly Pending[]): void {
    this.write('sessionStorage', `pending:${session}`, pending.length ? JSON.stringify(pending) : null);
  }

  private read(area: 'localStorage' | 'sessionStorage', name: string): string | null {
    try {
      return window[area].getItem(`assistant:${this.scope}:${name}`);
    } catch {
      return null;
    }
  }

  private write(area: 'localStorage' | 'sessionStorage', name: string, value: string | null): void {
    const key = `assistant:${this.scope}:${name}`;
    try {
      if (value === null) window[area].removeItem(key);
      else window[area].setItem(key, value);
    } catch {
      // Without storage the page works, it only forgets.
    }
  }
}

function isPending(value: unknown): value is Pending {
  if (typeof value !== 'object' || value === null) return false;
  const { id, text, mode, collections, attachments } = value as Record<string, unknown>;
  const lists = Array.isArray(collections) && Array.isArray(attachments);
  return lists && typeof id === 'string' && typeof text === 'string' && typeof mode === 'string';
}
