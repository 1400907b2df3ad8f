import { eventually } from '../../support/eventually.js';
import type { EnginePage } from '../engines/engine.js';
import type { VisitHostPage } from './use-host-pages.js';

/** The text that the button shows. */
const shown = (page: EnginePage): Promise<string> =>
  page.evaluate(`(() => {
    const { shadowRoot } = document.querySelector('intent-button');
    const texts = (node) => node.nodeName === 'SLOT' ? node.assignedNodes({ flatten: true }).flatMap(texts)
      : node.nodeName === '#text' ? [node.data]
      : getComputedStyle(node).display === 'none' ? [] : [...node.childNodes].flatMap(texts);
    return texts(shadowRoot.querySelector('[part="button"]')).join('').trim();
  })()`);

const show = (page: EnginePage, text: string): Promise<void> =>
  eventually(async () => expect(await shown(page)).toBe(text));

/** What the content of the element does. */
export function contentTests(visit: VisitHostPage): void {
  test.each([
    ['a line break', '<intent-button>\n</intent-button>', 'Pay with your wallet'],
    ['a line break and a label', '<intent-button label="Pay $4.50">\n</intent-button>', 'Pay $4.50'],
    ['an empty element', '<intent-button><span> </span></intent-button>', 'Pay with your wallet'],
    ['an empty label', '<intent-button label=""></intent-button>', 'Pay with your wallet'],
    ['a text', '<intent-button label="Pay">Pay <b>$4.50</b></intent-button>', 'Pay $4.50'],
    [
      'a fallback',
      '<intent-button>\n<a slot="fallback" href="/">Pay here</a>\n</intent-button>',
      'Pay with your wallet',
    ],
  ])('a button with %s has a name', async (_content, element, name) => {
    const page = await visit({ body: `${element}<div id="pay" hidden></div>` });
    await show(page, name);
    expect(await page.evaluate(`document.querySelector('intent-button').innerText.includes('here')`)).toBe(false);
  });

  test('content that is added, changed or removed later changes the name', async () => {
    const page = await visit({ body: '<intent-button>\n</intent-button><div id="pay" hidden></div>' });
    await show(page, 'Pay with your wallet');
    await page.evaluate(`document.querySelector('intent-button').append('Pay $4.50')`);
    await show(page, 'Pay $4.50');
    await page.evaluate(`document.querySelector('intent-button').lastChild.data = ' '`);
    await show(page, 'Pay with your wallet');
    await page.evaluate(`document.querySelector('intent-button').lastChild.data = 'Pay $5'`);
    await show(page, 'Pay $5');
    await page.evaluate(`document.querySelector('intent-button').replaceChildren()`);
    await show(page, 'Pay with your wallet');
  });
}
