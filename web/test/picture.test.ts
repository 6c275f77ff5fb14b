// @vitest-environment happy-dom
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { AssistantPicture, regionOf, thirds } from '../src/components/picture';
import { AssistantSource } from '../src/components/source';
import type { Loads } from '../src/loads';
import type { CitedSource } from '../src/protocol';
import { cite } from './dom';

const CAPTION = '<img src=x onerror=alert(1)> Figure 3: 组织结构 🌳';
const PNG = new Blob([new Uint8Array([0x89, 0x50])], { type: 'image/png' });
const alive = new Set<string>();

beforeEach(() => {
  let count = 0;
  alive.clear();
  vi.spyOn(URL, 'createObjectURL').mockImplementation(() => {
    const address = `blob:https://desk.example/${++count}`;
    alive.add(address);
    return address;
  });
  vi.spyOn(URL, 'revokeObjectURL').mockImplementation((address) => void alive.delete(address));
});

afterEach(() => {
  document.body.replaceChildren();
  vi.restoreAllMocks();
});

async function settled(element: { updateComplete: Promise<boolean> }): Promise<void> {
  for (let i = 0; i < 4; i++) {
    await new Promise((done) => setTimeout(done));
    await element.updateComplete;
  }
}

async function picture(image: Loads['image'], more: object = {}): Promise<AssistantPicture> {
  const element = new AssistantPicture();
  Object.assign(element, { image: 'i1', turn: 't1', caption: CAPTION, locale: 'en', loads: { image }, ...more });
  document.body.append(element);
  await settled(element);
  return element;
}

const img = (element: AssistantPicture): HTMLImageElement | null => element.shadowRoot!.querySelector('img');

describe('an image among the evidence', () => {
  it('is fetched and shown with its caption as what is read instead', async () => {
    const load = vi.fn(() => Promise.resolve(PNG));
    const element = await picture(load);
    expect(load.mock.calls).toEqual([['t1', 'i1']]);
    expect(img(element)!.getAttribute('alt')).toBe(CAPTION);
    expect(img(element)!.getAttribute('src')).toBe('blob:https://desk.example/1');
    expect(element.shadowRoot!.querySelectorAll('img')).toHaveLength(1);
  });

  it('gives its blob back when it leaves the page or another image takes its place, and comes back with the element', async () => {
    const element = await picture(() => Promise.resolve(PNG));
    element.image = 'i2';
    await settled(element);
    expect([...alive]).toEqual(['blob:https://desk.example/2']);
    element.remove();
    await settled(element);
    expect(alive.size).toBe(0);
    document.body.append(element);
    await settled(element);
    expect([...alive]).toEqual([img(element)!.getAttribute('src')]);
  });

  it('that comes after the element has left, or after another was asked for, makes no blob', async () => {
    const waiting: ((blob: Blob) => void)[] = [];
    const element = await picture(() => new Promise((give) => waiting.push(give)));
    element.image = 'i2';
    await settled(element);
    waiting[0]!(PNG);
    await settled(element);
    expect(URL.createObjectURL).not.toHaveBeenCalled();
    element.remove();
    waiting[1]!(PNG);
    await settled(element);
    expect(URL.createObjectURL).not.toHaveBeenCalled();
  });

  it.each(['image/svg+xml', 'text/html', '', 'image/png; x=<script>'])('of type %j is not shown', async (type) => {
    const element = await picture(() => Promise.resolve(new Blob(['<svg onload=alert(1)>'], { type })));
    expect(img(element)).toBeNull();
    expect(URL.createObjectURL).not.toHaveBeenCalled();
    expect(element.shadowRoot!.querySelector('[role=status]')!.textContent).toContain('could not be shown');
  });

  it('that cannot be loaded or drawn says so and leaks nothing', async () => {
    const failed = await picture(() => Promise.reject(new Error('404')));
    expect(failed.shadowRoot!.textContent).toContain('could not be shown');
    const broken = await picture(() => Promise.resolve(PNG));
    img(broken)!.dispatchEvent(new Event('error'));
    await settled(broken);
    expect(broken.shadowRoot!.textContent).toContain('could not be shown');
    expect(alive.size).toBe(0);
  });

  it('has its place on the page drawn and in words', async () => {
    const element = await picture(() => Promise.resolve(PNG), { region: [0.7, 0.1, 0.95, 0.3] });
    expect(element.shadowRoot!.querySelector('figcaption')!.textContent).toContain('top right');
    expect(element.shadowRoot!.querySelector('rect')!.getAttribute('x')).toBe('70');
    element.region = ['0', null, {}, Infinity];
    await settled(element);
    expect(element.shadowRoot!.querySelector('figcaption')).toBeNull();
  });
});

describe('a region', () => {
  it('is four fractions of the page in order, or nothing', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const region = regionOf(value);
        if (region) expect(region.every((n) => n >= 0 && n <= 1)).toBe(true);
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.double({ min: -1, max: 2, noNaN: true }), { minLength: 4, maxLength: 4 }), (value) => {
        const region = regionOf(value);
        if (!region) return;
        expect(region[0] < region[2] && region[1] < region[3]).toBe(true);
        for (const third of thirds(region)) expect([0, 1, 2]).toContain(third);
      }),
    );
    for (const bad of [null, [], [0, 0, 1], [1, 0, 0, 1], [0, 0, 0, 0], '0,0,1,1']) expect(regionOf(bad)).toBeNull();
  });
});

describe('the source panel', () => {
  async function panel(more: Partial<CitedSource>): Promise<{ root: ShadowRoot; source: ReturnType<typeof vi.fn> }> {
    const element = new AssistantSource();
    const plain = cite(1, { start: 0, end: 1 });
    const citation = { ...plain, source: { ...plain.source, ...more } };
    const source = vi.fn(() => new Promise<never>(() => undefined));
    Object.assign(element, { citation, turn: 't9', locale: 'en', loads: { source, image: () => Promise.resolve(PNG) } });
    document.body.append(element);
    await settled(element);
    return { root: element.shadowRoot!, source };
  }

  it('shows the image that a quote stands for, asked for with its turn', async () => {
    const { root, source } = await panel({ image: 'i1', region: [0, 0, 0.2, 0.2], exact: CAPTION });
    expect(source.mock.calls[0]![0]).toBe('t9');
    const shown = root.querySelector('assistant-picture')!;
    expect(shown.getAttribute('caption')).toBe(CAPTION);
    expect(shown.shadowRoot!.querySelector('img')!.getAttribute('alt')).toBe(CAPTION);
    expect(shown.shadowRoot!.textContent).toContain('top left');
  });

  it.each([{}, { image: null }, { image: '' }])('is as it was without one (%j)', async (source) => {
    const { root } = await panel(source);
    expect(root.querySelector('assistant-picture')).toBeNull();
    expect(root.querySelector('blockquote mark')).not.toBeNull();
  });
});
