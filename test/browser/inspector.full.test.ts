import type { Locator, Page } from 'playwright-core';
import { signPaymentIntent } from '../../src/intents/signed-intent.js';
import { createSigner } from '../../src/keys/verifier-key.js';
import { createIntentClient } from '../../src/sequencer/intent-client.js';
import { type Fault, startSimulator } from '../../src/simulator/index.js';
import { openCode } from '../../src/simulator/wallet/wallet-request.js';
import { encode, v1 } from '../../src/wire/codec.js';
import { encodeRequest, type Operation, operations } from '../../src/wire/envelope.js';
import { eventually } from '../support/eventually.js';
import { destination, domain } from '../support/sites/site.js';
import { axeViolations } from './support/axe.js';
import { begin, buttonScript, clickAndScan, event, idOf, secretOf } from './support/checkout.js';
import { type StrictSite, startStrictSite } from './support/strict-site.js';
import { useChromium } from './support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite();
  const { paymentIntents } = site.router.client;
  for (const amount of ['1.00', '2.00']) await paymentIntents.create({ amount, currency: 'usd', destination });
});

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

const inspector = (fragment = ''): string => `${site.simulator.inspectorUrl}${fragment}`;

const rows = (page: Page) => page.getByRole('region', { name: 'Intents' }).getByRole('listitem');
const timeline = (page: Page) => page.getByRole('region', { name: 'Timeline' });
const signatures = (page: Page) => page.getByRole('region', { name: 'Signatures' });

/** Resolves once the page shows a text. */
const shows = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();

/** Sends a request that the library would not send. */
async function send(operation: Operation, body: Uint8Array): Promise<void> {
  const headers = { 'content-type': 'application/octet-stream' };
  await fetch(`${site.simulator.url}/v1/api`, {
    method: 'POST',
    headers,
    body: new Uint8Array(encodeRequest(operation, body)),
  });
}

/** Opens all details, except those inside a message, which are open. */
async function openDetails(page: Page, press: (summary: Locator) => Promise<void>): Promise<void> {
  const closed = page.locator('.messages > details > summary, .signed > summary, .panel > summary');
  for (const summary of await closed.filter({ visible: true }).all()) await press(summary);
}

const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

test.each(['#%', '#%E0%A4%A', '#%20'])('an address that ends with %s shows an unknown request', async (fragment) => {
  const visit = await open(inspector(fragment));
  visit.forgive(/status of 404/);
  await shows(visit.page, /Unknown intent/);
  expect(await rows(visit.page).count()).toBeGreaterThan(0);
});

test('without intents the page shows the first steps', async () => {
  const simulator = await startSimulator();
  try {
    const { page } = await open(simulator.inspectorUrl);
    await page.getByRole('heading', { name: 'No intents yet' }).waitFor();
    const text = (await page.locator('main').innerText()).replace(/\s+/g, ' ');
    expect(text).toContain('A site that started this simulator with INTENT_SEQUENCER_URL=simulator already uses it.');
    expect(text).toContain(`For any other site, set INTENT_SEQUENCER_URL=${simulator.url}`);
    expect(await axeViolations(page)).toEqual([]);
    await page.goto('about:blank');
  } finally {
    await simulator.close();
  }
});

test('a payment and a login are shown live, from the click to the submission', async () => {
  const { page: inspected } = await open(inspector());
  const shop = await open(site.page({ script: buttonScript() }));
  const code = await clickAndScan(shop.page);
  const id = idOf(code);
  const row = rows(inspected).filter({ hasText: id.slice(0, 6) });
  await row.getByText('created').waitFor();
  await row.getByRole('link').click();
  await inspected.getByRole('heading', { name: '$4.50' }).waitFor();

  await site.simulator.wallet('Ada').pay(code);
  await event(shop.page, 'success');
  await row.getByText('submitted').waitFor();
  await timeline(inspected).getByText('Wallet pays').waitFor();
  await timeline(inspected).getByText('Delivered: intent_submitted').waitFor();
  await signatures(inspected).getByText('Signed by the key in the code').waitFor();
  await signatures(inspected).getByText('Signed by the paying account').waitFor();
  expect(await signatures(inspected).getByText('Failed').count()).toBe(0);
  await shows(inspected, `Ada, ${site.simulator.wallet('Ada').account}`);
  expect(await inspected.content()).not.toContain(secretOf(code));

  const login = await open(site.page({ script: buttonScript({ mode: 'login', order: undefined }) }));
  const loginCode = await begin(login.page);
  await site.simulator.wallet('Ben').login(loginCode);
  await event(login.page, 'success');
  await rows(inspected)
    .filter({ hasText: idOf(loginCode).slice(0, 6) })
    .getByRole('link')
    .click();
  await signatures(inspected).getByText('Signed by the verifier key in the request').waitFor();
  await signatures(inspected).getByText(`${domain} publishes the verifier`).waitFor();
  await signatures(inspected).getByText(`${site.origin}/.well-known/service-payments.json`).waitFor();
  await timeline(inspected).getByText('Site requests the user id').waitFor();
  await shows(inspected, `Ben, ${site.simulator.wallet('Ben').userId(domain)}`);
});

test('open details and the focus are kept when an entry is added', async () => {
  const shop = await open(site.page({ script: buttonScript() }));
  const code = await begin(shop.page);
  const { page } = await open(inspector(`#${idOf(code)}`));
  const creation = timeline(page).getByRole('listitem').filter({ hasText: 'Site creates the intent' });
  const fold = creation.locator('.messages > details > summary', { hasText: 'Request' });
  await fold.click();
  await creation.getByText('native_amount').waitFor();
  await page.locator('summary', { hasText: 'Signed message' }).click();
  await fold.focus();
  await site.simulator.wallet('Ada').pay(code);
  await timeline(page).getByText('Wallet pays').waitFor();
  expect(await creation.getByText('native_amount').isVisible()).toBe(true);
  expect(await page.locator('.signed .tree').isVisible()).toBe(true);
  expect(await fold.evaluate((element) => element === document.activeElement)).toBe(true);
});

test('a login with a trusted key names no key file', async () => {
  const simulator = await startSimulator();
  try {
    const { INTENT_VERIFIER_SECRET: verifierSecret, INTENT_DOMAIN: domain } = simulator.siteEnvironment();
    const verifier = createSigner(verifierSecret);
    const client = createIntentClient({ url: simulator.url });
    const { id } = await client.loginIntents.create({
      login: { domain, verifier: verifier.publicKey },
      signers: [verifier],
    });
    const { page } = await open(`${simulator.inspectorUrl}#${id}`);
    await signatures(page).getByText(`Verifier trusted for ${domain}, without a key file`).waitFor();
    const checked = timeline(page)
      .getByRole('listitem')
      .filter({ hasText: `Verifier of ${domain} checked` });
    await checked.getByText('a trusted key').waitFor();
    expect(await signatures(page).getByText('Read from').count()).toBe(0);
    await page.goto('about:blank');
    await client.close();
  } finally {
    await simulator.close();
  }
});

test.each<[Fault, string]>([
  [{ kind: 'error' }, 'instead of the operation'],
  [{ kind: 'delay', ms: 1 }, 'before the operation'],
  [{ kind: 'forget', when: 'before' }, 'before the operation'],
  [{ kind: 'error', when: 'after' }, 'after the operation'],
])('the timeline tells when the fault %j takes effect', async (fault, text) => {
  const simulator = await startSimulator();
  try {
    const client = createIntentClient({ url: simulator.url });
    const { id } = await client.paymentIntents.create({ amount: 1, currency: 'usd', destination });
    simulator.injectFault({ ...fault, times: 1 });
    await client.paymentIntents.getStatus(id).catch(() => undefined);
    const { page } = await open(`${simulator.inspectorUrl}#${id}`);
    const injected = timeline(page)
      .getByRole('listitem')
      .filter({ hasText: `Injected fault: ${fault.kind}` });
    await injected.getByText(text, { exact: true }).waitFor();
    await page.goto('about:blank');
    await client.close();
  } finally {
    await simulator.close();
  }
});

test('an invalid signature is marked as failed', async () => {
  const { message, signature, id } = await signPaymentIntent({ amount: '9.90', currency: 'eur', destination });
  const value = signature.map((byte, index) => (index === 0 ? byte ^ 1 : byte));
  await send(operations.createIntent, encode(v1.Message, { ...message, sendMessageRequestSignature: { value } }));
  const { page } = await open(inspector());
  const row = rows(page).filter({ hasText: id.slice(0, 6) });
  await row.getByText('refused').waitFor();
  await row.getByRole('link').click();
  await signatures(page).getByText('Signature by the key in the code is invalid').waitFor();
  expect(await signatures(page).getByText('Failed:').count()).toBe(1);
  await timeline(page)
    .getByText(/refused, invalid_signature/)
    .waitFor();
  expect(await axeViolations(page)).toEqual([]);
});

test('a payment is reversed, and found by its state and by its id', async () => {
  const shop = await open(site.page({ script: buttonScript() }));
  const code = await begin(shop.page);
  await site.simulator.wallet('Mia').pay(code);
  const id = idOf(code);
  const { page } = await open(inspector(`#${id}`));
  await page.getByRole('button', { name: 'Reverse payment' }).click();
  await timeline(page).getByText('Payment reversed').waitFor();
  const shown = async (): Promise<number> => rows(page).count();
  const all = await shown();
  expect(all).toBeGreaterThan(1);
  await page.getByLabel('Search').fill('reversed');
  await eventually(async () => expect(await shown()).toBe(1));
  expect(await page.locator('#count').innerText()).toBe(`1 of ${all} intents`);
  await page.getByLabel('Search').fill('no such domain');
  await shows(page, `0 of ${all} intents`);
  await page.getByLabel('Search').fill(id.slice(3, 20));
  await eventually(async () => expect(await shown()).toBe(1));
  expect(await rows(page).getByText('reversed').isVisible()).toBe(true);
});

test('hostile texts are shown as text', async () => {
  const hostile = '<img src=x onerror=alert(1)>';
  const rendezvous = openCode(
    (await signPaymentIntent({ amount: 1, currency: 'usd', destination })).clientSecret,
  ).rendezvous;
  const intents: v1.Message.$Properties[] = [
    { requestToLogin: { domain: { domain: hostile.repeat(20) }, rendezvousKey: { value: rendezvous.publicKey } } },
    {
      requestToReceiveBill: {
        partial: { currency: hostile, nativeAmount: 1 },
        rendezvousKey: { value: rendezvous.publicKey },
      },
    },
  ];
  for (const message of intents) {
    const signature = { value: rendezvous.sign(encode(v1.Message, message)) };
    const rendezvousKey = { value: rendezvous.publicKey };
    await send(operations.sendMessage, encode(v1.SendMessageRequest, { message, rendezvousKey, signature }));
  }
  await send({ service: hostile, method: `</code>${hostile}` }, new Uint8Array());
  const visit = await open(inspector());
  const { page } = visit;
  await rows(page).filter({ hasText: hostile }).getByRole('link').click();
  await timeline(page).getByText('Site creates the intent').first().waitFor();
  await openDetails(page, (summary) => summary.click());
  await shows(page, hostile);
  await page.getByRole('link', { name: 'Calls without an intent' }).click();
  await timeline(page).getByText(hostile).first().waitFor();
  expect(await page.locator('img').count()).toBe(0);
  expect(await overflow(page)).toBe(0);
});

test('the fault switches work, and the page shows the number of active faults', async () => {
  const { page } = await open(inspector());
  await page.locator('summary', { hasText: 'Fault injection' }).click();
  await page.getByRole('switch', { name: 'Answer with an error' }).click();
  await page.getByRole('button', { name: '1 active fault' }).waitFor();
  await page.getByRole('button', { name: 'Clear all' }).click();
  await shows(page, 'No active faults');
});

test.each(['light', 'dark'] as const)(
  'axe finds nothing in %s, in the list, in the detail and on the wallet page',
  async (colorScheme) => {
    const shop = await open(site.page({ script: buttonScript() }));
    const code = await begin(shop.page);
    await site.simulator.wallet('Ada').pay(code);
    const { page } = await open(inspector(), { colorScheme });
    await rows(page)
      .filter({ hasText: idOf(code).slice(0, 6) })
      .getByRole('link')
      .click();
    await timeline(page).getByText('Wallet pays').waitFor();
    await openDetails(page, (summary) => summary.click());
    await page.getByRole('switch', { name: 'Answer with an error' }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('navigation').getByRole('link', { name: 'Wallet' }).click();
    await page.locator('nav a[aria-current]', { hasText: 'Wallet' }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
  },
);

test('on a phone nothing is wider than the screen, and the page shows either the list or the details', async () => {
  const shop = await open(site.page({ script: buttonScript() }));
  const code = await begin(shop.page);
  await site.simulator.wallet('Ada').pay(code);
  const { page } = await open(inspector(), phone);
  const row = rows(page).filter({ hasText: idOf(code).slice(0, 6) });
  await row.waitFor();
  expect(await overflow(page)).toBe(0);
  await row.getByRole('link').tap();
  await timeline(page).getByText('Wallet pays').waitFor();
  expect(await row.isVisible()).toBe(false);
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('detail-title');
  await openDetails(page, (summary) => summary.tap());
  await page.getByRole('switch', { name: 'Answer with an error' }).waitFor();
  expect(await overflow(page)).toBe(0);
  await page.getByRole('link', { name: 'All intents' }).tap();
  await row.waitFor();
  expect(await timeline(page).isVisible()).toBe(false);
});

test('the page can be used by keyboard alone', async () => {
  const { page } = await open(inspector());
  await rows(page).first().waitFor();
  await page.getByLabel('Search').focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await timeline(page).waitFor();
  expect(new URL(page.url()).hash).not.toBe('');
});

test('the page shows that the connection is lost, and recovers', async () => {
  const first = await startSimulator();
  const port = Number(new URL(first.url).port);
  const visit = await open(first.inspectorUrl);
  visit.forgive(/ERR_CONNECTION_REFUSED|Failed to load resource|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE/);
  await visit.page.getByRole('heading', { name: 'No intents yet' }).waitFor();
  await first.close();
  await visit.page.getByRole('alert').getByText('Check that it is running.').waitFor();
  const second = await startSimulator({ port });
  try {
    await eventually(async () => expect(await visit.page.getByRole('alert').isVisible()).toBe(false));
    await visit.page.goto('about:blank');
  } finally {
    await second.close();
  }
});
