/** Which words the audit page speaks. */

import type { Locale } from '../../i18n';
import { auditEn, type AuditWords } from './en';
import { auditZh } from './zh';

export type { AuditWords };

export const auditWords = (locale: Locale): AuditWords => (locale === 'zh' ? auditZh : auditEn);
