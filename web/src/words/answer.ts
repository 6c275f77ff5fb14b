/** The words around an answer, in the languages of the interface. */

import { words, type Locale, type Words } from '../i18n';

const en = {
  stepFailed: 'A step failed, the answer goes on without it.',
  stopped: 'You stopped this answer.',
  cutOff: 'The answer reached its length limit and ends here.',
  noAnswer: 'The documents do not hold an answer to this.',
  ungrounded: 'Written without documents.',
  copy: 'Copy answer',
  copied: 'Copied',
  structured: 'JSON',
  good: 'Good answer',
  bad: 'Something is wrong',
  thanks: 'Thank you, noted.',
  feedbackWhy: 'What is wrong?',
  reasons: {
    wrong: 'It is not true',
    incomplete: 'Something is missing',
    outdated: 'It is out of date',
    source: 'A source does not say this',
    unclear: 'It is hard to understand',
    other: 'Something else',
  },
  feedbackAsk: 'What should it have said?',
  notes: 'Copy answer with its sources',
  footnote: {
    version: (n: number) => `version ${n}`,
    page: (n: number) => `page ${n}`,
  },
  withheld: 'This answer rests on documents that you may no longer read. It is not shown.',
  fromCache: 'from cache',
  fromCacheMore: 'This answer was given before to the same question over the same documents, and is given again.',
  byPerson: 'by a person',
  byPersonMore: 'A person corrected the answer to this question, and it was adopted. No language model wrote it.',
  attached: 'Attached',
  sendFeedback: 'Send',
  cancel: 'Cancel',
  coverage: {
    complete: 'Every statement has a source',
    partial: 'Some statements have no source',
    none: 'No statement could be tied to a source',
  },
  agreement: (n: number) => `Agreement with the sources: ${n} of 5`,
  conflictTitle: (n: number) => (n === 1 ? 'The documents disagree' : `The documents disagree on ${n} points`),
  moreConflicts: (n: number) => `${n} more`,
  preferred: 'Preferred',
  foundByModel: 'Found by a language model that compared the statements.',
  resolution: {
    newer: 'The later document is preferred.',
    authority: 'The dates are close, so the document with more authority is preferred.',
    unresolved: 'No rule decides between them. Both are given.',
  },
  followed: {
    preferred: 'The answer follows the preferred side.',
    both: 'The answer names both sides.',
    other: 'The answer follows the other side. Check it.',
    silent: '',
  },
  plan: 'Plan and evidence',
  made: 'How it was made',
};

const zh: typeof en = {
  stepFailed: '有一步失败，回答不依赖该步继续。',
  stopped: '你已停止这个回答。',
  cutOff: '回答已达长度上限，到此为止。',
  noAnswer: '文档中没有这个问题的答案。',
  ungrounded: '此回答未依据文档。',
  copy: '复制回答',
  copied: '已复制',
  structured: 'JSON',
  good: '回答得好',
  bad: '回答有误',
  thanks: '谢谢，已记录。',
  feedbackWhy: '哪里有误？',
  reasons: {
    wrong: '内容不实',
    incomplete: '有遗漏',
    outdated: '已过时',
    source: '来源并未这样说',
    unclear: '难以理解',
    other: '其他',
  },
  feedbackAsk: '正确的回答应该是什么？',
  notes: '连同来源一起复制',
  footnote: {
    version: (n) => `第 ${n} 版`,
    page: (n) => `第 ${n} 页`,
  },
  withheld: '此回答所依据的文档你已无权查看，因此不再显示。',
  fromCache: '来自缓存',
  fromCacheMore: '同样的问题和文档此前已有此回答，现再次给出。',
  byPerson: '人工回答',
  byPersonMore: '此问题的回答经人工更正并被采纳，并非由语言模型撰写。',
  attached: '附件',
  sendFeedback: '提交',
  cancel: '取消',
  coverage: { complete: '每项陈述均有来源', partial: '部分陈述没有来源', none: '没有找到陈述的来源' },
  agreement: (n) => `与来源的一致程度：${n}/5`,
  conflictTitle: (n) => (n === 1 ? '文档之间说法不一' : `文档之间有 ${n} 处说法不一`),
  moreConflicts: (n) => `另外 ${n} 处`,
  preferred: '采用',
  foundByModel: '由语言模型比较两处陈述后发现。',
  resolution: {
    newer: '采用日期较新的文档。',
    authority: '日期相近，采用权威性较高的文档。',
    unresolved: '没有规则可以取舍，两种说法都列出。',
  },
  followed: {
    preferred: '回答采用了这一说法。',
    both: '回答列出了两种说法。',
    other: '回答采用了另一种说法，请核实。',
    silent: '',
  },
  plan: '计划与证据',
  made: '生成过程',
};

export type AnswerWords = Words & typeof en;

const known: Partial<Record<Locale, AnswerWords>> = {};

/** These beside the words of the interface. */
export const answerWords = (locale: Locale): AnswerWords =>
  (known[locale] ??= { ...words(locale), ...ANSWER_WORDS[locale] });

export const ANSWER_WORDS = { en, zh };
