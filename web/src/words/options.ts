/** The words of the choices that go with a question, in the languages of the interface. */

import type { Locale } from '../i18n';

const en = {
  modeLabel: 'How to answer',
  modeNotes: {
    auto: 'Picks a method for each question and says why.',
    simple_summarize: 'One prompt with the best passages. The fastest.',
    refine: 'A draft from the best passage, improved with each further one. Slow and thorough.',
    compact: 'A draft, improved with as many passages at a time as fit. Reads everything.',
    tree_summarize: 'Parts summarized side by side, then combined. For overviews of much text.',
    accumulate: 'An answer from each passage, under its title. For comparing sources.',
    compact_accumulate: 'An answer from each group of passages, under their titles.',
    generation: 'The model answers from what it knows. Nothing is looked up or cited.',
    no_text: 'Shows what was found and writes nothing.',
    context_only: 'Shows the passages that were found, word for word.',
    multi_modal: 'Shows the model the images among the passages too.',
    verified: 'Checks each sentence against the passages, and withholds what has no support.',
  } as Record<string, string>,
  customMode: 'A method that your company has added.',
  scopeLabel: 'Where to look',
  everywhere: 'All documents',
};

export type OptionsWords = typeof en;

const zh: OptionsWords = {
  modeLabel: '回答方式',
  modeNotes: {
    auto: '根据每个问题选择方式，并说明原因。',
    simple_summarize: '把最相关的段落放进一次提示，速度最快。',
    refine: '先据最相关的一段起草，再逐段完善，较慢而细致。',
    compact: '先起草，再每次用尽量多的段落完善，读完全部证据。',
    tree_summarize: '各部分同时归纳，再合并，适合概览大量文字。',
    accumulate: '每段各给一个回答，列在其标题之下，适合比较来源。',
    compact_accumulate: '每组段落各给一个回答，列在其标题之下。',
    generation: '模型凭自身知识回答，不查文档，也没有引用。',
    no_text: '只显示查到的内容，不写回答。',
    context_only: '原样显示查到的段落。',
    multi_modal: '段落中的图片也给模型看。',
    verified: '每句话都与段落核对，没有依据的不予给出。',
  },
  customMode: '贵公司自行添加的方式。',
  scopeLabel: '查找范围',
  everywhere: '全部文档',
};

export const OPTIONS_WORDS: Readonly<Record<Locale, OptionsWords>> = { en, zh };
