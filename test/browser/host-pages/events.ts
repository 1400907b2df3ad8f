import { begin, clickPart, reached } from '../engines/engine-checkout.js';
import { event, seen } from '../support/checkout.js';
import type { VisitHostPage } from './use-host-pages.js';

/** Counts what the page around the button hears. */
const listen = `
globalThis.heard = [];
for (const name of ['invoke', 'scanned', 'success', 'cancel', 'error', 'close', 'intentcancel', 'intenterror']) {
  for (const target of [window, document, document.querySelector('#host')]) target.addEventListener(name, () => heard.push(name));
  button.addEventListener(name, ({ detail }) => note('dom ' + name, detail));
}
`;

const body = '<dialog id="host"><div id="pay"></div></dialog>';

/** What the events of the button do in a page. */
export function eventTests(visit: VisitHostPage): void {
  test('a payment is canceled in a dialog of the page, which hears nothing and stays open', async () => {
    const page = await visit({ body, script: `${listen} document.querySelector('#host').showModal();` });
    await begin(page);
    await clickPart(page, 'close');
    expect(await event(page, 'cancel')).toMatchObject({ reason: 'dismissed' });
    expect((await seen(page)).map(([name]) => name)).toEqual(['dom invoke', 'invoke', 'dom intentcancel', 'cancel']);
    expect(await page.evaluate('heard')).toEqual([]);
    expect(await page.evaluate(`document.querySelector('#host').open`)).toBe(true);
  });

  test('a payment fails, and the page hears no error', async () => {
    const fail = `button.on('invoke', () => { throw new Error('no basket'); });`;
    const page = await visit({ body: '<div id="host"><div id="pay"></div></div>', script: `${listen} ${fail}` });
    await clickPart(page, 'button');
    await reached(page, 'problem');
    expect(await event(page, 'error')).toMatchObject({ error: { code: 'handler_failed' } });
    expect(await page.evaluate('heard')).toEqual([]);
    expect((await seen(page)).map(([name]) => name)).toEqual(['dom invoke', 'invoke', 'dom intenterror', 'error']);
  });
}
