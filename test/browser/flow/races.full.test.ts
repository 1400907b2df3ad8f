import type { Page } from 'playwright-core';
import { eventually } from '../../support/eventually.js';
import {
  type ButtonOptions,
  begin,
  buttonScript,
  closed,
  event,
  hold,
  idOf,
  part,
  seen,
  state,
} from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  // Only a button with `login: {}` also logs the payer in.
  site = await startStrictSite({ payment: () => ({ amount: '4.50', currency: 'usd', login: true }) });
});

const count = async (page: Page, name: string): Promise<number> =>
  (await seen(page)).filter(([one]) => one === name).length;

/** Clicks retry. @returns the code of the new intent */
async function tryAgain(page: Page): Promise<string> {
  const answer = page.waitForResponse((response) => response.request().method() === 'POST');
  await part(page, 'retry').click();
  const { client_secret: code } = (await (await answer).json()) as { client_secret: string };
  await state(page, 'waiting');
  return code;
}

test('a payment that succeeds during a retry is not replaced by the code of the retry', async () => {
  const { page } = await open(site.page({ script: buttonScript() }));
  const first = await begin(page);
  await site.simulator.wallet('Ada').decline(first);
  await state(page, 'declined');
  const letGo = await hold(page, '**/intent');
  await part(page, 'retry').click();
  await state(page, 'preparing');
  await site.simulator.wallet('Ada').pay(first);
  // A return to the page polls at once.
  await eventually(async () => {
    await page.evaluate(() => dispatchEvent(new Event('focus')));
    expect(await count(page, 'success')).toBe(1);
  });
  await state(page, 'done');
  letGo();
  await page.waitForTimeout(500);
  expect(await page.locator('intent-button dialog').getAttribute('data-state')).toBe('done');
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(first) });
  await closed(page);
  expect(await count(page, 'error')).toBe(0);
});

test('a login that is canceled after the scan leaves the session empty', async () => {
  const { page } = await open(site.page({ script: buttonScript({ mode: 'login', order: undefined }) }));
  const code = await begin(page);
  await site.simulator.wallet('Ada').scan(code);
  await event(page, 'scanned');
  await part(page, 'close').click();
  await closed(page);
  let completions = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/session')) completions += 1;
  });
  await site.simulator.wallet('Ada').login(code);
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  // Longer than the status cache of the site and than the poll interval.
  await page.waitForTimeout(1_500);
  expect(completions).toBe(0);
  expect(await count(page, 'success')).toBe(0);
});

test('an expired login that is confirmed late does not remove the code of the next one', async () => {
  const visit = await open(site.page({ script: buttonScript({ mode: 'login', order: undefined }) }));
  visit.forgive(/status of 404/);
  const { page } = visit;
  await page.clock.install();
  const first = await begin(page);
  await page.clock.fastForward(121_000);
  await state(page, 'expired');
  const second = await tryAgain(page);
  await site.simulator.wallet('Ada').login(first);
  const polled = page.waitForResponse((response) => response.url().includes(`/status/${idOf(second)}`));
  // A return to the page polls at once.
  await page.clock.fastForward(1_000);
  await page.evaluate(() => dispatchEvent(new Event('focus')));
  await polled;
  await site.simulator.wallet('Ada').login(second);
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(second) });
  expect(await count(page, 'error')).toBe(0);
});

describe('a closed payment that is submitted while another order is on the screen', () => {
  /** One order is scanned and closed, and the code of another is on the screen. */
  async function twoOrders(options: ButtonOptions): Promise<{ page: Page; first: string; second: string }> {
    const { page } = await open(site.page({ script: buttonScript(options, 'globalThis.button = button;') }));
    const first = await begin(page);
    await site.simulator.wallet('Ada').scan(first);
    await event(page, 'scanned');
    await part(page, 'close').click();
    await closed(page);
    await page.evaluate(() => Object.assign((globalThis as unknown as { button: object }).button, { order: 'other' }));
    const second = await begin(page);
    await site.simulator.wallet('Ada').pay(first);
    // A return to the page polls at once.
    await eventually(async () => {
      await page.evaluate(() => dispatchEvent(new Event('focus')));
      expect(await count(page, 'success')).toBe(1);
    });
    expect(await event(page, 'success')).toMatchObject({ intent: idOf(first) });
    return { page, first, second };
  }

  test.each([
    ['emits success', {}],
    ['with a login emits success', { login: {} }],
  ])('%s, and the other order stays on the screen until it is paid', async (_name, options) => {
    const { page, first, second } = await twoOrders(options);
    expect(await part(page, 'dialog').getAttribute('data-state')).toBe('waiting');
    expect(await part(page, 'code').locator('svg').isVisible()).toBe(true);
    await site.simulator.wallet('Ada').pay(second);
    await state(page, 'done');
    await closed(page);
    const paid = (await seen(page)).filter(([name]) => name === 'success').map(([, { intent }]) => intent);
    expect(paid).toEqual([idOf(first), idOf(second)]);
  });

  test('does not redirect, and is not reported again after a reload', async () => {
    const { page } = await twoOrders({ successUrl: '/thanks' });
    // Longer than "paid" stays on the screen.
    await page.waitForTimeout(1_500);
    expect(new URL(page.url()).pathname).not.toBe('/thanks');
    await page.reload();
    await part(page, 'button').waitFor();
    await page.waitForTimeout(500);
    expect(await count(page, 'success')).toBe(1);
  });
});

/** Creates an intent and provides its secret to the button. @returns the secret */
async function provideSecret(page: Page): Promise<string> {
  const { clientSecret } = await site.router.client.paymentIntents.create({
    destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
    amount: '9.99',
    currency: 'usd',
  });
  const update = (secret: string): void => {
    (globalThis as unknown as { button: { update(given: object): void } }).button.update({ clientSecret: secret });
  };
  await page.evaluate(update, clientSecret);
  return clientSecret;
}

test('a secret that is provided while the button creates an intent is shown, and not shown again by the next click', async () => {
  const { page } = await open(site.page({ script: buttonScript({}, 'globalThis.button = button;') }));
  const request = page.waitForRequest((sent) => sent.method() === 'POST');
  const letGo = await hold(page, '**/intent');
  await part(page, 'button').click();
  await request;
  const provided = await provideSecret(page);
  letGo();
  await state(page, 'waiting');
  await site.simulator.wallet('Ada').pay(provided);
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(provided) });
  await closed(page);
  expect(await begin(page)).not.toBe(provided);
});

test('a secret that is provided while the dialog is loaded is shown', async () => {
  const { page } = await open(site.page({ script: buttonScript({}, 'globalThis.button = button;') }));
  const letGo = await hold(page, '**/intent/v1/intent-dialog.*');
  const answered = page.waitForResponse((response) => response.request().method() === 'POST');
  await part(page, 'button').click();
  await (await answered).finished();
  const provided = await provideSecret(page);
  letGo();
  await state(page, 'waiting');
  await site.simulator.wallet('Ada').pay(provided);
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(provided) });
});

test('a secret that is provided too late is not used for the next click', async () => {
  const more = `
button.order = 'late';
let clicks = 0;
button.addEventListener('invoke', (event) => {
  clicks += 1;
  if (clicks === 1) event.preventDefault();
});`;
  const { page } = await open(site.page({ script: buttonScript({}, `${more}\nglobalThis.button = button;`) }));
  await part(page, 'button').click();
  await state(page, 'preparing');
  await part(page, 'close').click();
  await closed(page);
  await provideSecret(page);
  await page.evaluate(() => {
    const { button } = globalThis as unknown as { button: EventTarget & { update(given: object): void } };
    button.addEventListener('invoke', (event) => event.preventDefault());
  });
  await part(page, 'button').click();
  await state(page, 'preparing');
  await page.waitForTimeout(300);
  expect(await page.locator('intent-button dialog').getAttribute('data-state')).toBe('preparing');
});

/** Answers `POST /intent` when told to. */
async function holdCreation(page: Page): Promise<(status: number) => void> {
  let answer: (status: number) => void = () => undefined;
  const answered = new Promise<number>((resolve) => {
    answer = resolve;
  });
  await page.route('**/intent', async (route) =>
    route.fulfill({ status: await answered, json: { code: 'request_refused', detail: 'No.' } }),
  );
  return answer;
}

test('a secret that is provided while the button creates an intent is shown at once, and a refusal of the request changes nothing', async () => {
  const visit = await open(site.page({ script: buttonScript({}, 'globalThis.button = button;') }));
  const { page } = visit;
  visit.forgive(/status of 403/);
  const answer = await holdCreation(page);
  const request = page.waitForRequest((sent) => sent.method() === 'POST');
  await part(page, 'button').click();
  await request;
  const provided = await provideSecret(page);
  await state(page, 'waiting');
  answer(403);
  await site.simulator.wallet('Ada').pay(provided);
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(provided) });
  expect((await seen(page)).map(([name]) => name)).not.toContain('error');
});

test('a login that is confirmed after its code expired does not replace the next code', async () => {
  const login = { mode: 'login', order: undefined, expiresInMs: 3_000 };
  const { page } = await open(site.page({ script: buttonScript(login) }));
  const first = await begin(page);
  await state(page, 'expired');
  const answer = page.waitForResponse((response) => response.request().method() === 'POST');
  await part(page, 'retry').click();
  const { client_secret: second } = (await (await answer).json()) as { client_secret: string };
  await state(page, 'waiting');
  const polled = page.waitForResponse((response) => response.url().endsWith(`/status/${idOf(second)}`));
  await site.simulator.wallet('Ada').login(first);
  await page.evaluate(() => void dispatchEvent(new Event('focus')));
  await polled;
  await site.simulator.wallet('Ben').login(second);
  expect(await event(page, 'success')).toMatchObject({ intent: idOf(second) });
  expect((await seen(page)).filter(([name]) => name === 'success')).toHaveLength(1);
});
