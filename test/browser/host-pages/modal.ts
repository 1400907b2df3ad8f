import { eventually } from '../../support/eventually.js';
import type { EnginePage } from '../engines/engine.js';
import { begin, clickPart, reached } from '../engines/engine-checkout.js';
import { event, idOf, seen } from '../support/checkout.js';
import type { VisitHostPage } from './use-host-pages.js';

const body =
  '<details id="details" open><summary>Cart</summary><div id="cart"><div id="pay"></div></div></details>' +
  '<div id="other"></div><button id="outside">Outside</button>';

const count = `
globalThis.clicks = 0;
document.querySelector('#outside').onclick = () => { clicks += 1; };
globalThis.button = button;
`;

/** Clicks the button of the page. @returns whether it got the click */
async function clickOutside(page: EnginePage): Promise<boolean> {
  const before = await page.evaluate<number>('clicks');
  const { x, y } = await page.evaluate<DOMRect>(
    `(({ x, y }) => ({ x: x + 9, y: y + 9 }))(document.querySelector('#outside').getBoundingClientRect())`,
  );
  await page.click(x, y);
  return (await page.evaluate<number>('clicks')) > before;
}

/** The page takes clicks, or the dialog is visible, so that the visitor can close it. */
const isUsable = async (page: EnginePage): Promise<void> =>
  eventually('the visitor can use the page or the dialog', async () => {
    const isOpen = await page.evaluate(`(() => {
      const dialog = document.querySelector('intent-button')?.shadowRoot.querySelector('dialog');
      return !!dialog?.matches(':modal') && dialog.getBoundingClientRect().height > 100 &&
        dialog.checkVisibility?.() !== false && getComputedStyle(dialog).visibility === 'visible';
    })()`);
    return isOpen || (await clickOutside(page));
  });

/** What happens to the open dialog when the page hides, moves or removes the button. */
export function modalTests(visit: VisitHostPage): void {
  test.each([
    ['hides an ancestor by its style', `document.querySelector('#cart').style.display = 'none'`],
    ['hides an ancestor by its attribute', `document.querySelector('#cart').hidden = true`],
    ['hides the button', 'button.hidden = true'],
    ['makes an ancestor invisible', `document.querySelector('#cart').style.visibility = 'hidden'`],
    ['skips the content of an ancestor', `document.querySelector('#cart').style.contentVisibility = 'hidden'`],
    ['closes the details around it', `document.querySelector('#details').open = false`],
    ['removes an ancestor', `document.querySelector('#cart').remove()`],
    ['moves the button', `document.querySelector('#other').append(button)`],
    ['moves an ancestor', `document.querySelector('#other').append(document.querySelector('#cart'))`],
    [
      'moves the button and keeps its state',
      `(Element.prototype.moveBefore ?? Element.prototype.insertBefore).call(document.querySelector('#other'), button, null)`,
    ],
    ['empties and fills the cart', `button.remove(); document.querySelector('#cart').append(button)`],
  ])('the page %s, and the visitor can use the page or the dialog', async (_what, act) => {
    const page = await visit({ body, script: count });
    await begin(page);
    await page.evaluate(`void (${act.includes(';') ? `(() => { ${act} })()` : act})`);
    await isUsable(page);
    await clickOutside(page);
    await isUsable(page);
  });

  test('the page moves the button, and the dialog stays open until the payment', async () => {
    const page = await visit({ body, script: count });
    const code = await begin(page);
    await page.evaluate(`document.querySelector('#other').append(button)`);
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 50))');
    expect(await page.evaluate(`button.shadowRoot.querySelector('dialog').matches(':modal')`)).toBe(true);
    await visit.site.simulator.wallet('Ada').pay(code);
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
    await eventually(() => clickOutside(page));
    expect((await seen(page)).map(([name]) => name)).toEqual(['invoke', 'scanned', 'success']);
  });

  test('a payment is scanned, the page removes the button, and success is still reported', async () => {
    const page = await visit({ body, script: count });
    const code = await begin(page);
    await visit.site.simulator.wallet('Ada').scan(code);
    await reached(page, 'scanned');
    await page.evaluate('button.remove()');
    await eventually(() => clickOutside(page));
    await visit.site.simulator.wallet('Ada').pay(code);
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(code) });
  });

  test('the page replaces the button of a scanned payment, and only the new one reports success', async () => {
    const page = await visit({ body, script: count });
    const code = await begin(page);
    await visit.site.simulator.wallet('Ada').scan(code);
    await reached(page, 'scanned');
    await page.evaluate(`(() => {
      globalThis.heard = [];
      button.on('success', () => void heard.push('old'));
      const again = document.createElement('intent-button');
      Object.assign(again, { mode: 'payment', order: 42 }).on('success', () => void heard.push('new'));
      button.replaceWith(again);
    })()`);
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 50))');
    await visit.site.simulator.wallet('Ada').pay(code);
    await eventually(async () => expect(await page.evaluate('heard.length')).toBeGreaterThan(0));
    // Each watch of the page polls when the page is shown again.
    await page.evaluate(`(async () => {
      dispatchEvent(new Event('focus'));
      await fetch('/status/${idOf(code)}');
    })()`);
    expect(await page.evaluate('heard')).toEqual(['new']);
  });

  test('keys and pointers in the dialog do not reach the page, and Escape closes only the dialog', async () => {
    const listen = `
globalThis.heard = new Set();
for (const name of ${JSON.stringify(contained)}) document.addEventListener(name, () => heard.add(name));
`;
    const page = await visit({ body, script: count + listen });
    await begin(page);
    await page.evaluate('heard.clear()');
    await page.press('Tab');
    await page.press('Tab');
    await clickPart(page, 'amount');
    await page.press('Escape');
    await event(page, 'cancel');
    expect(await page.evaluate('[...heard]')).toEqual([]);
  });
}

const contained = [
  ...['keydown', 'keyup', 'click', 'mousedown', 'mouseup', 'pointerdown', 'pointerup'],
  ...['wheel', 'cancel', 'close', 'touchstart', 'touchend'],
];
