import { eventually } from '../../support/eventually.js';
import type { EnginePage } from '../engines/engine.js';
import { event, seen } from '../support/checkout.js';
import type { VisitHostPage } from './use-host-pages.js';

const body = `
<form id="form" action="/nothing"><fieldset id="fields"><label for="wallet" id="label">Wallet</label><div id="pay"></div></fieldset></form>
<button id="other">Other</button>`;

const script = `
globalThis.button = button;
button.id = 'wallet';
button.on('invoke', () => true);
globalThis.submitted = 0;
document.querySelector('#form').onsubmit = () => { submitted += 1; };
`;

const isOpen = (page: EnginePage): Promise<boolean> =>
  page.evaluate(`!!button.shadowRoot.querySelector('dialog')?.open`);

/** What pages do with the element as with any button. */
export function nativeButtonTests(visit: VisitHostPage): void {
  test('focus() focuses the button, and the element matches :focus', async () => {
    const page = await visit({ body, script });
    await page.evaluate('button.focus()');
    expect(await page.evaluate(`document.activeElement === button && button.matches(':focus')`)).toBe(true);
    expect(await page.evaluate(`button.shadowRoot.activeElement.getAttribute('part')`)).toBe('button');
    await page.evaluate('button.blur()');
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true);
  });

  test('click() opens the dialog with one event, and submits no form', async () => {
    const page = await visit({ body, script });
    await page.evaluate(`(() => {
      globalThis.clicks = 0;
      document.addEventListener('click', () => { clicks += 1; });
      button.click();
    })()`);
    await eventually(async () => expect(await isOpen(page)).toBe(true));
    expect(await page.evaluate('[clicks, submitted]')).toEqual([1, 0]);
  });

  test('a click on the label of the element opens the dialog', async () => {
    const page = await visit({ body, script });
    await page.evaluate(`document.querySelector('#label').click()`);
    await event(page, 'invoke');
  });

  test.each([
    ['its property', 'button.disabled = true', 'button.disabled = false'],
    ['its attribute', `button.setAttribute('disabled', '')`, `button.removeAttribute('disabled')`],
    [
      'a fieldset',
      `document.querySelector('#fields').disabled = true`,
      `document.querySelector('#fields').disabled = false`,
    ],
  ])(
    'a button that is disabled by %s cannot be clicked or focused until it is enabled',
    async (_by, disable, enable) => {
      const page = await visit({ body, script });
      await page.evaluate(`void (${disable})`);
      expect(await page.evaluate(`button.matches(':disabled')`)).toBe(true);
      await page.evaluate('button.click()');
      await page.evaluate(`button.shadowRoot.querySelector('button').click()`);
      await page.evaluate('button.focus()');
      expect(await page.evaluate('document.activeElement === button')).toBe(false);
      await page.evaluate(`void (${enable})`);
      expect(await page.evaluate(`button.matches(':disabled')`)).toBe(false);
      expect((await seen(page)).map(([name]) => name)).toEqual([]);
      await page.evaluate('button.click()');
      await event(page, 'invoke');
    },
  );
}
