import { describe, expect, it } from 'vitest';

import { framed, LOOK, READY, TOKEN, WANTED, type Around, type Look } from '../src/framing';

const PORTAL = 'https://portal.example';
const OTHER = 'https://other.example';

interface Timer {
  at: number;
  run: () => void;
}

/** A frame on a page; `said` is what it posted and to which origin. */
class Page implements Around {
  said: [type: string, origin: string][] = [];
  near: string[];
  private now = 0;
  private timers: Timer[] = [];
  private handle: (message: { origin: string; source: unknown; data: unknown }) => void = () => undefined;
  parent = { postMessage: (message: unknown, origin: string) => void this.said.push([(message as { type: string }).type, origin]) };

  constructor(...near: string[]) {
    this.near = near;
  }

  listen(handle: typeof this.handle): void {
    this.handle = handle;
  }

  after(ms: number, run: () => void): void {
    this.timers.push({ at: this.now + ms, run });
  }

  pass(ms: number): void {
    for (const end = this.now + ms; this.now < end; this.now += 500)
      for (const timer of this.timers.filter(({ at }) => at === this.now)) timer.run();
  }

  hear(data: unknown, origin = PORTAL, source: unknown = this.parent): void {
    this.handle({ origin, source, data });
  }
}

describe('a frame', () => {
  it('says that it is ready to its portal alone, to all of them where the browser does not say which', () => {
    const [told, untold, strange] = [new Page(PORTAL), new Page(), new Page('https://evil.example', PORTAL)];
    for (const page of [told, untold, strange]) framed(page, [PORTAL, OTHER], () => undefined);
    expect(told.said).toEqual([[READY, PORTAL]]);
    expect(untold.said).toEqual([[READY, PORTAL], [READY, OTHER]]);
    expect(strange.said).toEqual([]);
  });

  it('asks for a token whenever it needs one and takes each once', async () => {
    const page = new Page(PORTAL);
    const getToken = framed(page, [PORTAL], () => undefined);
    const first = getToken();
    page.hear({ type: TOKEN, token: 't1' });
    page.hear({ type: TOKEN, token: 'unasked' });
    expect(await first).toBe('t1');
    const second = getToken();
    page.hear({ type: TOKEN, token: 't2' });
    expect(await second).toBe('t2');
    expect(page.said.filter(([type]) => type === WANTED)).toEqual([[WANTED, PORTAL], [WANTED, PORTAL]]);
  });

  it.each([
    ['https://evil.example', undefined],
    ['https://portal.example.evil.example', undefined],
    ['https://portal.example:8443', undefined],
    ['http://portal.example', undefined],
    ['null', undefined],
    [PORTAL, { postMessage: () => undefined }],
  ])('hears nothing from %s', async (origin, source) => {
    const page = new Page(PORTAL);
    const looks: Look[] = [];
    const token = framed(page, [PORTAL], (look) => looks.push(look))();
    page.hear({ type: LOOK, theme: 'dark' }, origin, source ?? page.parent);
    page.hear({ type: TOKEN, token: 'forged' }, origin, source ?? page.parent);
    page.pass(21_000);
    await expect(token).rejects.toThrow('no token');
    expect(looks).toEqual([]);
    expect(page.said.every(([, to]) => to === PORTAL)).toBe(true);
  });

  it.each([null, 1, 'assistant.token', [], { type: TOKEN }, { type: TOKEN, token: 1 }, { type: TOKEN, token: '' }])(
    'is not moved by %j',
    async (data) => {
      const page = new Page(PORTAL);
      const token = framed(page, [PORTAL], () => undefined)();
      page.hear(data);
      page.pass(21_000);
      await expect(token).rejects.toThrow();
    },
  );

  it('takes theme and language', () => {
    const page = new Page(PORTAL);
    const looks: Look[] = [];
    framed(page, [PORTAL], (look) => looks.push(look));
    page.hear({ type: LOOK, theme: 'dark', locale: 'zh', title: 'x' });
    page.hear({ type: LOOK, theme: 1 });
    expect(looks).toEqual([{ theme: 'dark', locale: 'zh' }, {}]);
  });

  it('goes on knocking at a portal that listens late, and then asks at once', async () => {
    const page = new Page(PORTAL);
    const token = framed(page, [PORTAL], () => undefined)();
    page.pass(3_500);
    expect(page.said.map(([type]) => type)).toEqual([READY, WANTED, READY, READY, READY]);
    page.hear({ type: LOOK });
    expect(page.said.at(-1)).toEqual([WANTED, PORTAL]);
    page.hear({ type: TOKEN, token: 't' });
    expect(await token).toBe('t');
    const { length } = page.said;
    page.pass(25_000);
    expect(page.said).toHaveLength(length);
  });
});
