import type { Page } from 'playwright-core';
import { eventually } from '../../support/eventually.js';
import { begin, buttonScript, closed, event, idOf, part, scan, seen, state, textOf } from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium, type Visit } from '../support/visit.js';

// A payment whose dialog is closed after a wallet has scanned the code: the wallet can still confirm it.

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite();
});

const created = ({ requests }: Visit): number => requests.filter((request) => request.method() === 'POST').length;

/** Closes the dialog of a scanned payment. @returns the code */
async function scanAndCancel(page: Page): Promise<string> {
  const code = await begin(page);
  await site.simulator.wallet('Ada').scan(code);
  await state(page, 'scanned');
  await part(page, 'close').click();
  await closed(page);
  return code;
}

test('a button whose scanned payment was canceled says that the wallet can still pay, and offers its code again', async () => {
  const visit = await open(site.page({ script: buttonScript() }));
  const { page } = visit;
  const code = await scanAndCancel(page);
  expect(await textOf(page, 'note')).toMatch(/confirm in your wallet/);
  await part(page, 'button').click();
  await state(page, 'scanned');
  expect(created(visit)).toBe(1);
  expect(await part(page, 'note').textContent()).toBe('');
  expect(await part(page, 'lifetime').textContent()).toMatch(/1[45]:\d\d/);
  expect((await seen(page)).map(([name]) => name)).toEqual(['invoke', 'scanned', 'cancel']);
  await site.simulator.wallet('Ada').pay(code);
  expect(await event(page, 'success')).toEqual({ intent: idOf(code) });
  await closed(page);
  expect(await begin(page)).not.toBe(code);
});

test('a scanned payment that is paid after its dialog was closed is reported, and the note disappears', async () => {
  const { page } = await open(site.page({ script: buttonScript() }));
  const code = await scanAndCancel(page);
  await textOf(page, 'note');
  await site.simulator.wallet('Ada').pay(code);
  expect(await event(page, 'success')).toEqual({ intent: idOf(code) });
  await eventually(async () => expect(await part(page, 'note').textContent()).toBe(''));
});

test('a scanned payment whose code is gone after a reload is checked first, and another code follows only on request', async () => {
  const visit = await open(site.page({ script: buttonScript(), lang: 'de' }));
  const { page } = visit;
  const first = await scanAndCancel(page);
  await page.reload();
  expect(await textOf(page, 'note')).toMatch(/in Ihrer Wallet bestätigen/);
  await part(page, 'button').click();
  await state(page, 'expired');
  await eventually(async () => expect(await part(page, 'retry').isVisible()).toBe(true));
  expect(created(visit)).toBe(1);
  await part(page, 'retry').click();
  const second = await scan(page);
  expect(second).not.toBe(first);
  await site.simulator.wallet('Ada').pay(first);
  expect(await event(page, 'success')).toEqual({ intent: idOf(first) });
});

test('a payment that the wallet declined is not offered again', async () => {
  const visit = await open(site.page({ script: buttonScript() }));
  const { page } = visit;
  const code = await begin(page);
  await site.simulator.wallet('Ada').decline(code);
  await state(page, 'declined');
  await part(page, 'close').click();
  await closed(page);
  expect(await part(page, 'note').textContent()).toBe('');
  expect(await begin(page)).not.toBe(code);
});

test('a second button of the order offers the open payment of the first, and reports it alone', async () => {
  const script = `import { elements } from '/intent/v1/elements.js';
globalThis.seen = [];
for (const id of ['one', 'two']) {
  const { button } = elements.create('button', { order: 'tea' });
  button.id = id;
  button.on('success', (detail) => { seen.push([id, detail]); });
  button.mount('#pay');
}`;
  const visit = await open(site.page({ script }));
  const { page } = visit;
  const inState = (id: string, name: string) =>
    page.locator(`#${id} dialog[data-state="${name}"]`).waitFor({ state: 'attached' });
  const answer = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.locator('#one [part="button"]').click();
  const code = String(((await (await answer).json()) as { client_secret: string }).client_secret);
  await inState('one', 'waiting');
  await site.simulator.wallet('Ada').scan(code);
  await inState('one', 'scanned');
  await page.locator('#one [part="close"]').click();
  await closed(page);
  await page.locator('#two [part="button"]').click();
  await inState('two', 'scanned');
  expect(created(visit)).toBe(1);
  await site.simulator.wallet('Ada').pay(code);
  expect(await event(page, 'two')).toEqual({ intent: idOf(code) });
  await closed(page);
  expect((await seen(page)).filter(([name]) => name === 'one')).toEqual([]);
});

test('a scanned payment is reported after a payment for another order, whose button has no note of it', async () => {
  const { page } = await open(site.page({ script: buttonScript({ order: 'A' }, 'globalThis.button = button;') }));
  const first = await scanAndCancel(page);
  await textOf(page, 'note');
  await page.evaluate('button.order = "B"');
  await eventually(async () => expect(await part(page, 'note').textContent()).toBe(''));
  const second = await begin(page);
  await site.simulator.wallet('Ada').pay(second);
  await closed(page);
  await site.simulator.wallet('Ada').pay(first);
  await eventually(async () => {
    const paid = (await seen(page)).filter(([name]) => name === 'success').map(([, detail]) => detail.intent);
    expect(paid).toEqual([idOf(second), idOf(first)]);
  });
});

test('a success-url that changes only the fragment leaves a button that works', async () => {
  const { page } = await open(site.page({ script: buttonScript({ successUrl: '#/thanks/{{INTENT_ID}}' }) }));
  const code = await scanAndCancel(page);
  await site.simulator.wallet('Ada').pay(code);
  await page.waitForURL(`**#/thanks/${idOf(code)}`);
  expect(await begin(page)).not.toBe(code);
});
