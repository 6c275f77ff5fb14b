/** The words of the list of conversations, in the languages of the interface. */

import type { Locale } from '../i18n';
import { plural } from './en';

const en = {
  search: 'Search conversations',
  untitled: 'Untitled',
  none: 'Your past conversations will appear here.',
  noneFound: 'No conversation holds these words.',
  found: (n: number, more: boolean) => `${plural(n, 'conversation', 'conversations')} found${more ? ', and more' : ''}`,
  failed: 'The conversations could not be loaded.',
  again: 'Try again',
  more: 'Show more',
  today: 'Today',
  earlier: 'Earlier',
  actions: (title: string) => `More for “${title}”`,
  rename: 'Rename',
  newName: 'New name',
  save: 'Save',
  cancel: 'Cancel',
  markdown: 'Save as Markdown',
  json: 'Save as JSON',
  remove: 'Delete…',
  removeTitle: 'Delete this conversation?',
  removeText: (title: string) => `“${title}” will be gone for you for good. There is no way back.`,
  removeNow: 'Delete',
  removed: 'Deleted.',
  renamed: 'Renamed.',
  saved: 'Saved as a file.',
  notDone: 'That did not work. Try again.',
};

export type ListWords = typeof en;

const zh: ListWords = {
  search: '搜索对话',
  untitled: '未命名',
  none: '以往的对话会显示在这里。',
  noneFound: '没有对话包含这些文字。',
  found: (n, more) => `找到 ${n.toLocaleString('zh')} 个对话${more ? '，还有更多' : ''}`,
  failed: '无法加载对话列表。',
  again: '重试',
  more: '显示更多',
  today: '今天',
  earlier: '更早',
  actions: (title) => `“${title}”的更多操作`,
  rename: '重命名',
  newName: '新名称',
  save: '保存',
  cancel: '取消',
  markdown: '存为 Markdown',
  json: '存为 JSON',
  remove: '删除…',
  removeTitle: '删除这个对话？',
  removeText: (title) => `“${title}”将从你的列表中永久消失，无法恢复。`,
  removeNow: '删除',
  removed: '已删除。',
  renamed: '已重命名。',
  saved: '已存为文件。',
  notDone: '操作未成功，请重试。',
};

export const LIST_WORDS: Readonly<Record<Locale, ListWords>> = { en, zh };
