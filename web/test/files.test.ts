// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ApiError } from '../src/api';
import { AssistantComposer } from '../src/components/composer';
import { Dropping } from '../src/components/dropping';
import type { AssistantFiles } from '../src/components/files';
import { reasonOf } from '../src/components/files';
import type { Attached } from '../src/reducer';

let composer: AssistantComposer;
let uploads: { file: File; give(attached: Attached): void; fail(error: unknown): void }[];
const detach = vi.fn((_id: string) => Promise.resolve());
const asked: unknown[] = [];

const root = (): ShadowRoot => composer.shadowRoot!;
const files = (): AssistantFiles => root().querySelector('assistant-files')!;
const chips = (): string[] =>
  [...files().shadowRoot!.querySelectorAll('li')].map((chip) => chip.textContent!.replace(/\s+/g, ' ').trim());
const send = (): HTMLButtonElement => root().querySelector('button.main')!;

async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) {
    await new Promise((done) => setTimeout(done));
    await composer.updateComplete;
  }
}

async function attach(...names: string[]): Promise<void> {
  await composer.attach(names.map((name) => new File(['x'], name)));
  await settled();
}

async function write(text: string): Promise<void> {
  const field = root().querySelector('textarea')!;
  field.value = text;
  field.dispatchEvent(new Event('input'));
  await settled();
}

beforeEach(async () => {
  uploads = [];
  asked.length = 0;
  composer = new AssistantComposer();
  const waiting = (file: File): Promise<Attached> =>
    new Promise((give, fail) => uploads.push({ file, give, fail }));
  Object.assign(composer, { locale: 'en', filing: { attach: waiting, detach } });
  composer.addEventListener('ask', (event) => asked.push((event as CustomEvent).detail));
  document.body.append(composer);
  await settled();
});

afterEach(() => {
  document.body.replaceChildren();
  vi.clearAllMocks();
});

describe('files with a question', () => {
  it('go with it by their ids once the server has them, and are gone afterwards', async () => {
    await write('What is in it?');
    expect(send().disabled).toBe(false);
    await attach('<b>plan</b>.pdf', 'b.md');
    expect(chips()).toEqual(['<b>plan</b>.pdf Reading…', 'b.md Reading…']);
    expect(send().disabled).toBe(true);
    root().querySelector('form')!.dispatchEvent(new Event('submit', { cancelable: true }));
    expect(asked).toEqual([]);
    uploads[0]!.give({ id: 'f1', title: '<b>plan</b>.pdf' });
    uploads[1]!.give({ id: 'f2', title: 'B' });
    await settled();
    expect(chips()).toEqual(['<b>plan</b>.pdf', 'B']);
    expect(files().shadowRoot!.querySelector('[role=status]')!.textContent).toBe('B is attached.');
    expect(send().disabled).toBe(false);
    send().click();
    await settled();
    const attachments = [{ id: 'f1', title: '<b>plan</b>.pdf' }, { id: 'f2', title: 'B' }];
    expect(asked).toEqual([{ text: 'What is in it?', mode: 'auto', collections: [], attachments }]);
    expect(chips()).toEqual([]);
    await write('Next?');
    send().click();
    expect(asked[1]).toMatchObject({ attachments: [] });
  });

  it('that are refused say why, do not stop the question and do not go with it', async () => {
    await write('q');
    await attach('huge.pdf');
    uploads[0]!.fail(new ApiError(413, '/'));
    await settled();
    expect(chips()).toEqual(['huge.pdf: the file is too large.']);
    expect(files().shadowRoot!.querySelector('[role=alert]')).not.toBeNull();
    send().click();
    expect(asked).toMatchObject([{ attachments: [] }]);
  });

  it('are taken back from the server when they are removed, also while they are on their way', async () => {
    await attach('a.md', 'b.md');
    uploads[0]!.give({ id: 'f1', title: 'a.md' });
    await settled();
    const remove = (): HTMLButtonElement => files().shadowRoot!.querySelector('li button')!;
    remove().click();
    expect(detach.mock.calls).toEqual([['f1']]);
    await settled();
    expect(remove().getAttribute('aria-label')).toBe('Remove b.md');
    expect(files().shadowRoot!.activeElement).toBe(remove());
    remove().click();
    await settled();
    uploads[1]!.give({ id: 'f2', title: 'b.md' });
    await settled();
    expect(detach.mock.calls).toEqual([['f1'], ['f2']]);
    expect(chips()).toEqual([]);
  });

  it('are at most ten', async () => {
    await attach(...Array.from({ length: 12 }, (_, i) => `${i}.md`));
    expect(uploads).toHaveLength(10);
    expect(files().shadowRoot!.querySelector('p.bad')!.textContent).toBe('At most 10 files go with a question.');
  });

  it('can be pasted, but a picture of copied text is not one', async () => {
    const paste = (types: string[]): Event =>
      Object.assign(new Event('paste', { cancelable: true, bubbles: true }), {
        clipboardData: { files: [new File(['x'], 'p.png')], types },
      });
    const field = root().querySelector('textarea')!;
    field.dispatchEvent(paste(['text/plain', 'Files']));
    await settled();
    expect(uploads).toEqual([]);
    const event = paste(['Files']);
    field.dispatchEvent(event);
    await settled();
    expect(event.defaultPrevented).toBe(true);
    expect(uploads.map(({ file }) => file.name)).toEqual(['p.png']);
  });

  it('have no button where none may be attached', async () => {
    expect(root().querySelector('[aria-label="Attach files"]')).not.toBeNull();
    composer.filing = null;
    await settled();
    expect(root().querySelector('[aria-label="Attach files"]')).toBeNull();
    await attach('a.md');
    expect(uploads).toEqual([]);
  });
});

describe('an error of the server', () => {
  it.each([
    [413, 'tooLarge'],
    [415, 'unreadable'],
    [422, 'unreadable'],
    [429, 'full'],
    [404, 'notHere'],
    [500, 'other'],
  ] as const)('%i is %s', (status, reason) => expect(reasonOf(new ApiError(status, '/'))).toBe(reason));

  it('of too many files is one of room', () =>
    expect(reasonOf(new ApiError(422, '/', 'bad_input', 'too_many_files'))).toBe('full'));

  it('that is none of the server is one of the way', () => expect(reasonOf(new TypeError('fetch'))).toBe('other'));
});

describe('what is dragged over the conversation', () => {
  const event = (types: string[], dropped: File[] = []): DragEvent =>
    Object.assign(new Event('drop', { cancelable: true }), {
      dataTransfer: { types, files: dropped },
      relatedTarget: null,
    }) as unknown as DragEvent;

  it('is taken when it is files, and left alone when it is text', () => {
    const taken: File[][] = [];
    const dropping = new Dropping((some) => taken.push(some), () => undefined);
    const text = event(['text/plain']);
    dropping.dragged(text);
    dropping.dropped(text);
    expect([text.defaultPrevented, dropping.over, taken]).toEqual([false, false, []]);
    const [over, drop] = [event(['Files']), event(['Files'], [new File(['x'], 'a')])];
    dropping.dragged(over);
    expect([over.defaultPrevented, dropping.over]).toEqual([true, true]);
    dropping.dropped(drop);
    expect([drop.defaultPrevented, dropping.over]).toEqual([true, false]);
    expect(taken.map((some) => some.map(({ name }) => name))).toEqual([['a']]);
  });
});
