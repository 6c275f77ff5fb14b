/** The words of the panel that shows a source, in the languages of the interface. */

import { words, type Locale, type Words } from '../i18n';

const en = {
  passageFailed: 'The surrounding text could not be loaded.',
  sourceState: {
    unchanged: 'Unchanged since this answer',
    same_text: 'There is a newer version of the document, which says this in the same words.',
    changed: 'The document has changed since this answer. This is the text as it was and as it is.',
    deleted: 'The document has been deleted since. This is the text as it was.',
    unknown: 'From outside the company’s documents. Whether it has changed is not known.',
    not_available: 'This source is not available to you now.',
  },
  then: 'As it was',
  now: 'Today',
  passageGone: 'Nothing like this passage is in the version of today.',
  removed: ['[removed: ', ' end]'] as [string, string],
  added: ['[added: ', ' end]'] as [string, string],
  restsOn: 'The sentence',
  passage: 'The passage',
  wholePassage: 'Show the whole passage',
  openDocument: 'Open document',
  image: 'Image',
  imageFailed: 'The image could not be shown. Its caption is above.',
  imagePlace: (across: number, down: number) =>
    `On the page: ${['top', 'middle', 'bottom'][down]} ${['left', 'centre', 'right'][across]}`,
};

const zh: typeof en = {
  passageFailed: '无法加载上下文。',
  sourceState: {
    unchanged: '自回答以来没有变化',
    same_text: '文档已有新版本，其中这段文字一字未改。',
    changed: '文档在回答之后有改动，以下为当时与现在的原文。',
    deleted: '文档在回答之后已删除，以下为当时的原文。',
    unknown: '来自公司文档之外，无法得知是否有改动。',
    not_available: '你现在无法查看此来源。',
  },
  then: '当时',
  now: '现在',
  passageGone: '现在的版本中没有与此相近的段落。',
  removed: ['［删去：', '，删去完］'],
  added: ['［新增：', '，新增完］'],
  restsOn: '回答中的句子',
  passage: '原文',
  wholePassage: '显示整段原文',
  openDocument: '打开文档',
  image: '图片',
  imageFailed: '无法显示图片，其说明见上方原文。',
  imagePlace: (across, down) => `在页面的${['上', '中', '下'][down]}部${['左侧', '中间', '右侧'][across]}`,
};

export type SourceWords = Words & typeof en;

const known: Partial<Record<Locale, SourceWords>> = {};

/** These beside the words of the interface. */
export const sourceWords = (locale: Locale): SourceWords =>
  (known[locale] ??= { ...words(locale), ...SOURCE_WORDS[locale] });

export const SOURCE_WORDS = { en, zh };
