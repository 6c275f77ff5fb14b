/** The words of files that go with a question, in the languages of the interface. */

import type { Locale } from '../i18n';

const en = {
  files: 'Attached files',
  reading: 'Reading…',
  ready: (title: string) => `${title} is attached.`,
  remove: (title: string) => `Remove ${title}`,
  failed: (title: string, why: string) => `${title}: ${why}`,
  tooMany: (n: number) => `At most ${n.toLocaleString('en')} files go with a question.`,
  reasons: {
    tooLarge: 'the file is too large.',
    unreadable: 'files of this kind cannot be read, or this one is damaged or empty.',
    full: 'this conversation holds as many files as it may, or too many are being read. Wait or remove some.',
    notHere: 'files cannot be attached here.',
    other: 'the file did not arrive. Try again.',
  },
};

export type FileWords = typeof en;

const zh: FileWords = {
  files: '附带的文件',
  reading: '正在读取…',
  ready: (title) => `已附上 ${title}。`,
  remove: (title) => `移除 ${title}`,
  failed: (title, why) => `${title}：${why}`,
  tooMany: (n) => `一个问题最多附带 ${n.toLocaleString('zh')} 个文件。`,
  reasons: {
    tooLarge: '文件太大。',
    unreadable: '无法读取这类文件，或文件已损坏或为空。',
    full: '对话中的文件已达上限，或正在读取的文件太多，请稍候或移除一些。',
    notHere: '此处无法附带文件。',
    other: '文件未能送达，请重试。',
  },
};

export const FILE_WORDS: Readonly<Record<Locale, FileWords>> = { en, zh };
