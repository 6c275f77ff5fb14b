/** Which words the plan and the record of an answer are shown in. */

import type { Locale } from '../i18n';
import { planEn, type PlanWords } from './plan-en';
import { planZh } from './plan-zh';

export type { PlanWords };

export const planWords = (locale: Locale): PlanWords => (locale === 'zh' ? planZh : planEn);
