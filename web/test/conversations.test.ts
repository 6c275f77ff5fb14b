// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ApiError, type Api, type ConversationItem, type ConversationPage } from '../src/api';
import { AssistantConversations } from '../src/components/conversations';
import { download, fileName } from '../src/components/download';

vi.mock('../src/components/download', async (original) => ({
  ...(await original<typeof import('../src/components/download')>()),
  download: vi.fn(),
}));

const item = (id: string, title: string, more: Partial<ConversationItem> = {}): ConversationItem => ({
  session_id: id,
  title,
  created_at: '2020-01-01T10:00:00Z',
  updated_at: '2020-01-01T10:00:00Z',
  turns: 1,
  ...more,
});

const HOSTILE = '<img src=x onerror=alert(1)>\u202e%_\\';

/** The part of the server that the list needs: what it has, what it was asked. */
class Server {
  items = [item('s1', 'Leave'), item('s2', HOSTILE), item('s3', 'Travel'), item('s4', 'never asked', { turns: 0 })];
  asked: [query: string, cursor: string | null][] = [];
  pages: ConversationPage[] = [];
  fails: Error | null = null;

  conversations = (query: string, cursor: string | null): Promise<ConversationPage> => {
    this.asked.push([query, cursor]);
    if (this.fails) return Promise.reject(this.fails);
    return Promise.resolve(this.pages.shift() ?? { sessions: this.items.filter(({ title }) => title.includes(query)), next: null });
  };
  rename = vi.fn((_id: string, _title: string) => this.done());
  remove = vi.fn((_id: string) => this.done());
  export = vi.fn((_id: string, format: string) => this.done().then(() => new Blob([format])));

  private done(): Promise<void> {
    return this.fails ? Promise.reject(this.fails) : Promise.resolve();
  }
}

let server: Server;
let list: AssistantConversations;
const events: [type: string, detail: unknown][] = [];

const all = (selector: string): HTMLElement[] => [...list.shadowRoot!.querySelectorAll<HTMLElement>(selector)];
const one = (selector: string): HTMLElement => all(selector)[0]!;
const names = (): string[] => all('.name span').map((name) => name.textContent!);
const button = (text: string): HTMLElement => all('button').find((each) => each.textContent!.trim() === text)!;

async function settled(): Promise<void> {
  for (let i = 0; i < 4; i++) {
    await new Promise((done) => setTimeout(done));
    await list.updateComplete;
  }
}

async function press(target: HTMLElement): Promise<void> {
  target.click();
  await settled();
}

beforeEach(async () => {
  server = new Server();
  events.length = 0;
  list = new AssistantConversations();
  Object.assign(list, { api: server as unknown as Api, locale: 'en', current: 's1' });
  for (const type of ['open-conversation', 'conversation-removed', 'signed-out'])
    list.addEventListener(type, (event) => events.push([type, (event as CustomEvent).detail]));
  document.body.append(list);
  await settled();
});

afterEach(() => {
  document.body.replaceChildren();
  vi.clearAllMocks();
});

describe('the list of conversations', () => {
  it('shows those that were asked something, as text, and opens them', async () => {
    expect(names()).toEqual(['Leave', HOSTILE, 'Travel']);
    expect(all('img')).toEqual([]);
    expect(one('[aria-current=true]').textContent).toContain('Leave');
    await press(all('.name')[2]!);
    await press(one('.start'));
    expect(events).toEqual([['open-conversation', { id: 's3' }], ['open-conversation', { id: null }]]);
  });

  it('is searched when the typing pauses, and says how many were found', async () => {
    const field = one('input[type=search]') as HTMLInputElement;
    for (const text of ['L', 'Le', ' Leave ']) {
      field.value = text;
      field.dispatchEvent(new Event('input'));
    }
    await vi.waitFor(() => expect(server.asked.at(-1)).toEqual(['Leave', null]));
    expect(server.asked).toHaveLength(2);
    await settled();
    expect(names()).toEqual(['Leave']);
    expect(one('[role=status]').textContent).toBe('1 conversation found');
  });

  it('says that nothing was found, which is another thing than nothing asked yet', async () => {
    server.items = [];
    list.revision++;
    await settled();
    expect(one('.none').textContent).toContain('will appear here');
    list.query = 'x';
    list.revision++;
    await settled();
    expect(one('.none').textContent).toBe('No conversation holds these words.');
  });

  it('goes on at its cursor, each conversation once though others have come meanwhile', async () => {
    server.pages = [
      { sessions: [item('s1', 'a'), item('s2', 'b')], next: 'c1' },
      { sessions: [item('s2', 'b'), item('s3', 'c')], next: null },
    ];
    list.revision++;
    await settled();
    await press(button('Show more'));
    expect(server.asked.at(-1)).toEqual(['', 'c1']);
    expect(names()).toEqual(['a', 'b', 'c']);
    expect(button('Show more')).toBeUndefined();
  });

  it('is that of the last question, whichever answer comes last', async () => {
    const answers: ((page: ConversationPage) => void)[] = [];
    server.conversations = () => new Promise((done) => answers.push(done));
    list.query = 'a';
    list.revision++;
    await settled();
    list.query = 'ab';
    list.revision++;
    await settled();
    answers[1]!({ sessions: [item('s9', 'ab')] });
    answers[0]!({ sessions: [item('s8', 'a')] });
    await settled();
    expect(names()).toEqual(['ab']);
  });

  it('says when it could not be loaded, tries again, and tells who is signed out', async () => {
    server.fails = new ApiError(401, '/');
    list.revision++;
    await settled();
    expect(one('.none').textContent).toContain('could not be loaded');
    expect(events).toEqual([['signed-out', null]]);
    server.fails = null;
    await press(button('Try again'));
    expect(names()).toHaveLength(3);
  });

  it('gives another name, trimmed, and keeps the old one when that fails', async () => {
    await press(all('.dots')[0]!);
    expect(one('.dots').getAttribute('aria-expanded')).toBe('true');
    await press(button('Rename'));
    const field = one('.rename input') as HTMLInputElement;
    expect(field.value).toBe('Leave');
    field.value = '  ';
    one('form').dispatchEvent(new Event('submit', { cancelable: true }));
    expect(server.rename).not.toHaveBeenCalled();
    field.value = '  Holidays <b> ';
    one('form').dispatchEvent(new Event('submit', { cancelable: true }));
    await settled();
    expect(server.rename).toHaveBeenCalledWith('s1', 'Holidays <b>');
    expect(names()[0]).toBe('Holidays <b>');
    expect(list.shadowRoot!.activeElement).toBe(all('.dots')[0]);
    server.fails = new ApiError(500, '/');
    await press(all('.dots')[2]!);
    await press(button('Rename'));
    one('form').dispatchEvent(new Event('submit', { cancelable: true }));
    await settled();
    expect(one('[role=alert]').textContent).toContain('did not work');
  });

  it('closes actions and the field for a name by Escape, with the cursor where it was', async () => {
    await press(all('.dots')[1]!);
    const escape = (): Event => new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, composed: true });
    let outside = 0;
    document.body.addEventListener('keydown', () => outside++);
    one('.actions button').dispatchEvent(escape());
    await settled();
    expect(all('.actions')).toEqual([]);
    expect(list.shadowRoot!.activeElement).toBe(all('.dots')[1]);
    await press(all('.dots')[1]!);
    await press(button('Rename'));
    one('.rename input').dispatchEvent(escape());
    await settled();
    expect(all('.rename')).toEqual([]);
    expect(outside).toBe(0);
  });

  it('deletes nothing before that is confirmed, and then goes on at the next one', async () => {
    const dialog = (): HTMLDialogElement => one('dialog') as HTMLDialogElement;
    await press(all('.dots')[1]!);
    await press(button('Delete…'));
    expect(dialog().open).toBe(true);
    expect(dialog().textContent).toContain(HOSTILE);
    dialog().close('');
    await settled();
    expect(server.remove).not.toHaveBeenCalled();
    expect(all('dialog')).toEqual([]);
    await press(button('Delete…'));
    dialog().close('yes');
    await settled();
    expect(server.remove).toHaveBeenCalledWith('s2');
    expect(names()).toEqual(['Leave', 'Travel']);
    expect(events).toEqual([['conversation-removed', { id: 's2' }]]);
    expect(list.shadowRoot!.activeElement).toBe(all('.name')[1]);
  });

  it('is kept when deleting fails', async () => {
    server.fails = new ApiError(503, '/');
    await press(all('.dots')[0]!);
    await press(button('Delete…'));
    (one('dialog') as HTMLDialogElement).close('yes');
    await settled();
    expect(names()).toHaveLength(3);
    expect(events).toEqual([]);
    expect(one('[role=alert]').textContent).toContain('did not work');
  });

  it('saves a conversation as a file', async () => {
    await press(all('.dots')[0]!);
    await press(button('Save as Markdown'));
    expect(download).toHaveBeenCalledWith(expect.any(Blob), 'Leave', 'md');
    await press(button('Save as JSON'));
    expect(download).toHaveBeenLastCalledWith(expect.any(Blob), 'Leave', 'json');
    expect(server.export.mock.calls.map(([, format]) => format)).toEqual(['markdown', 'json']);
  });
});

describe('the name of a file', () => {
  it.each([
    ['Leave 2024', 'Leave 2024'],
    ['../../etc/passwd', 'etc passwd'],
    ['a\r\nb\u202egpj.exe', 'a b gpj.exe'],
    ['年假？*', '年假？'],
    ['', 'conversation'],
    ['...', 'conversation'],
    ['🌴'.repeat(200), '🌴'.repeat(80)],
  ])('of %j is %j', (title, name) => expect(fileName(title)).toBe(name));
});
