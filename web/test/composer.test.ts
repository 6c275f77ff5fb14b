// @vitest-environment happy-dom
import { afterEach, describe, expect, it, vi } from 'vitest';

import { AssistantComposer } from '../src/components/composer';
import { en } from '../src/words/en';
import { OPTIONS_WORDS } from '../src/words/options';

const CUSTOM = ['constructor', '<b>ours</b>', '先查后答 🔎', 'x'.repeat(300)];

afterEach(() => document.body.replaceChildren());

async function composer(modes: string[], locale: 'en' | 'zh' = 'en'): Promise<AssistantComposer> {
  const element = new AssistantComposer();
  Object.assign(element, { modes, locale });
  document.body.append(element);
  await element.updateComplete;
  element.shadowRoot!.querySelector<HTMLButtonElement>('.tool')!.click();
  await vi.waitFor(() => expect(element.shadowRoot!.querySelector('select')).not.toBeNull());
  return element;
}

async function choose(element: AssistantComposer, mode: string): Promise<void> {
  const select = element.shadowRoot!.querySelector('select')!;
  select.value = mode;
  select.dispatchEvent(new Event('change'));
  await element.updateComplete;
}

describe('the mode picker', () => {
  it('names every mode and says in one line what the chosen one does', async () => {
    const element = await composer(Object.keys(en.modes));
    const root = element.shadowRoot!;
    const names = [...root.querySelectorAll('option')].map((one) => one.textContent);
    expect(names).toEqual(Object.values(en.modes));
    const note = root.querySelector(`#${root.querySelector('select')!.getAttribute('aria-describedby')}`)!;
    expect(note.textContent).toBe(OPTIONS_WORDS.en.modeNotes['auto']);
    await choose(element, 'tree_summarize');
    expect(note.textContent).toBe(OPTIONS_WORDS.en.modeNotes['tree_summarize']);
    element.locale = 'zh';
    await element.updateComplete;
    expect(note.textContent).toContain('归纳');
  });

  it.each(CUSTOM)('shows a mode of others as it is (%#)', async (mode) => {
    const element = await composer(['auto', mode]);
    const root = element.shadowRoot!;
    expect(root.querySelectorAll('option')[1]!.textContent).toBe(mode);
    await choose(element, mode);
    expect(root.querySelector('#mode-note')!.textContent).toBe(OPTIONS_WORDS.en.customMode);
    root.querySelector<HTMLButtonElement>('.tool')!.click();
    await element.updateComplete;
    expect(root.querySelector('.chosen')!.textContent).toBe(mode);
    expect(root.querySelector('b')).toBeNull();
  });
});
