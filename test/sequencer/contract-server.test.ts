import { createIntentClient } from '../../src/index.js';
import { parseIntentId } from '../../src/keys/base58.js';
import { Browser } from '../support/browser/browser.js';
import { type ContractServer, maximum, startContractServer } from '../support/sequencers/contract-server.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { destination, type Site, startSite } from '../support/sites/site.js';

// A service written only from the contract: zero-byte responses, and the status as the response to createIntent.

let service: ContractServer;
let site: Site;
let amount = '4.50';
beforeAll(async () => {
  service = await startContractServer();
  site = await startSite({ sequencer: { url: service.url }, payment: () => ({ amount, currency: 'usd' }) });
});
afterAll(() => service.close());
afterEach(() => {
  amount = '4.50';
});

const user = new Uint8Array(32).fill(7);

test('a payment is created, scanned and paid', async () => {
  const browser = new Browser(site.origin);
  const { status, body } = await browser.send('POST', '/intent', { order: 1 });
  expect(status).toBe(201);
  const id = intentIdOf(String(body.client_secret));
  const flags = async (): Promise<unknown> => (await site.router.client.paymentIntents.getStatus(id)) as unknown;
  expect(await flags()).toEqual({ exists: true, codeScanned: false, intentSubmitted: false });
  service.confirm(parseIntentId(id));
  expect(await flags()).toEqual({ exists: true, codeScanned: true, intentSubmitted: true });
});

test('an unknown intent, whose status response has zero bytes, does not exist', async () => {
  const answer = await new Browser(site.origin).send('GET', `/status/${destination}`);
  expect([answer.status, answer.body]).toEqual([200, { exists: false, code_scanned: false, intent_submitted: false }]);
});

test('a login is confirmed and ends in a session', async () => {
  const browser = new Browser(site.origin);
  const { body } = await browser.send('POST', '/intent', { mode: 'login' });
  const id = intentIdOf(String(body.client_secret));
  expect((await browser.send('POST', '/session', { id })).body.code).toBe('login_pending');
  service.confirm(parseIntentId(id), user);
  expect((await browser.send('POST', '/session', { id })).status).toBe(200);
  expect((await browser.send('GET', '/session')).body.user).toMatchObject({ id: expect.any(String) });
});

test('a limit of the service is intent_refused, with its reason in the log and not in the response', async () => {
  amount = String(maximum + 1);
  const { status, body } = await new Browser(site.origin).send('POST', '/intent', { order: 1 });
  expect([status, body.code]).toEqual([502, 'intent_refused']);
  expect(JSON.stringify(body)).not.toContain('maximum');
  expect(site.log.text).toContain(`The maximum is ${maximum}.`);
});

test('a webhook is registered by a response of zero bytes', async () => {
  const { client } = site.router;
  await client.registerWebhook({ intent: destination, url: 'https://shop.example/intent/webhook' });
});

test('the envelope has the version of the option', async () => {
  expect([...service.versions]).toEqual(['']);
  const client = createIntentClient({ url: service.url, envelopeVersion: '1.0' });
  await client.paymentIntents.create({ destination, amount: '1.00', currency: 'usd' });
  await client.close();
  expect([...service.versions]).toEqual(['', '1.0']);
});

test.each(['1.0 beta', '1.0\n', 'x'.repeat(33), 'é'])('the envelope version %j is rejected', (envelopeVersion) => {
  expect(() => createIntentClient({ url: service.url, envelopeVersion })).toThrow(/envelopeVersion must be/);
});
