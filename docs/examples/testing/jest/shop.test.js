import { jest } from '@jest/globals';
import {
  advanceTime,
  sameOriginHeaders,
  startSimulator,
  temporaryLedger,
  waitForIntent,
} from 'express-intents/testing';
import request from 'supertest';
import { createShop } from './app.js';

const minute = 60_000;
const onPaid = jest.fn();
const onReversed = jest.fn();
let simulator, ledger, app, router, browser;

beforeAll(async () => {
  simulator = await startSimulator();
  ledger = await temporaryLedger();
  const webhook = { webhook: true, origin: 'http://shop.example' }; // https would make the cookies Secure
  const options = simulator.siteOptions({ ledger: { url: ledger.url }, onPaid, onReversed, ...webhook });
  ({ app, router } = await createShop(options));
}, 120_000); // creating the first ledger takes a few seconds, on a busy machine a minute

beforeEach(() => {
  browser = request.agent(app).set(sameOriginHeaders); // keeps cookies, as a browser does
});

afterEach(() => {
  simulator.clearFaults();
  jest.resetAllMocks();
});

afterAll(async () => {
  await router.close();
  await simulator.close();
  await ledger.remove();
});

/** Creates an intent as the button does, and returns the code that a wallet scans. */
async function createIntent(intent) {
  const { body } = await browser.post('/intent').send(intent).expect(201);
  return body.client_secret;
}

test('a payment is settled', async () => {
  const code = await createIntent({ mode: 'payment', order: 'cup' });
  const { id, amount, currency } = await simulator.wallet('Ada').pay(code);
  expect({ amount, currency }).toEqual({ amount: '18.00', currency: 'usd' });

  await waitForIntent(router, id, 'settled'); // onPaid has succeeded
  expect(onPaid.mock.calls[0][0]).toMatchObject({ id, amount: '18.00', metadata: { item: 'cup' } });
  await browser.get(`/thanks/${id}`).expect(200, 'Paid. Thank you! Your order: cup.');
});

test('an unknown item and an unknown payment are answered 404', async () => {
  await browser.post('/intent').send({ mode: 'payment', order: 'gold' }).expect(404);
  await browser.get('/thanks/unknown').expect(404);
});

test('a declined payment can be paid by another wallet', async () => {
  const code = await createIntent({ mode: 'payment', order: 'tea' });
  const { id } = await simulator.wallet('Ada').decline(code);
  await browser.get(`/thanks/${id}`).expect(200, 'Your order is not confirmed yet.');

  await simulator.wallet('Ben').pay(code);
  await waitForIntent(router, id, 'settled');
});

test('a login starts a session', async () => {
  await browser.get('/account').expect(401);
  const { id, userId } = await simulator.wallet('Mia').login(await createIntent({ mode: 'login' }));
  const { body } = await browser.post('/session').send({ id }).expect(200);
  expect(body.user.id).toBe(userId);
  await browser.get('/account').expect(200, `Hello ${userId}`);
});

test('another browser cannot complete a login', async () => {
  const { id } = await simulator.wallet('Mia').login(await createIntent({ mode: 'login' }));
  const stranger = request.agent(app).set(sameOriginHeaders);
  await stranger.post('/session').send({ id }).expect(404);
});

test('wallets can read the key file of the app', async () => {
  simulator.setLocalDomain('shop.example', app); // the simulator now reads the file, as the real sequencer does
  await simulator.wallet('Mia').login(await createIntent({ mode: 'login' }));
});

test('a login expires after two minutes', async () => {
  const { id } = await simulator.wallet('Mia').login(await createIntent({ mode: 'login' }));
  await advanceTime(3 * minute, { simulator, router });
  await browser.post('/session').send({ id }).expect(404);
});

test('a session expires after seven days', async () => {
  const { id } = await simulator.wallet('Mia').login(await createIntent({ mode: 'login' }));
  await browser.post('/session').send({ id }).expect(200);
  await advanceTime(8 * 24 * 60 * minute, { simulator, router });
  await browser.get('/account').expect(401);
});

test('a late payment is settled, and marked as late', async () => {
  const code = await createIntent({ mode: 'payment', order: 'tea' });
  await advanceTime(16 * minute, { simulator, router });
  const { id } = await simulator.wallet('Ada').pay(code);
  await waitForIntent(router, id, 'settled');
  expect(onPaid.mock.calls[0][1]).toMatchObject({ late: true });
});

test('onPaid is retried after an error', async () => {
  onPaid.mockRejectedValueOnce(new Error('The printer is out of paper.'));
  const { id } = await simulator.wallet('Ada').pay(await createIntent({ mode: 'payment', order: 'tea' }));
  const failed = await waitForIntent(router, id, 'submitted');
  expect(failed.lastError).toContain('out of paper');

  await advanceTime(minute, { simulator, router }); // or wait for a second
  await waitForIntent(router, id, 'settled');
  expect(onPaid.mock.calls.map(([, { attempt }]) => attempt)).toEqual([1, 2]);
});

test('a reversed payment calls onReversed', async () => {
  const { id } = await simulator.wallet('Ada').pay(await createIntent({ mode: 'payment', order: 'tea' }));
  await waitForIntent(router, id, 'settled');
  simulator.reverse(id);
  await advanceTime(2 * minute, { simulator, router }); // the first poll reports the reversal
  await advanceTime(minute, { simulator, router }); // the second poll confirms it
  await waitForIntent(router, id, 'reversed');
  expect(onReversed).toHaveBeenCalledTimes(1);
});

/** Sends a webhook call as the sequencer does, valid or invalid. */
async function callWebhook(id, options) {
  const { headers, body } = await simulator.signWebhook(id, options);
  return request(app).post('/intent/webhook').set(headers).send(body);
}

test('a webhook call settles a submitted payment', async () => {
  const { id } = await simulator.wallet('Ada').pay(await createIntent({ mode: 'payment', order: 'tea' }));
  expect((await callWebhook(id)).status).toBe(200);
  await waitForIntent(router, id, 'settled');
});

test('a webhook call does not settle an unpaid payment', async () => {
  const { id } = await simulator.wallet('Ada').scan(await createIntent({ mode: 'payment', order: 'tea' }));
  expect((await callWebhook(id)).status).toBe(502); // the status is not submitted, so the sequencer must repeat the call
  expect((await router.intents.find(id)).state).toBe('created');
});

test.each(['forged', 'altered', 'expired', 'unsigned'])('a webhook call that is %s is rejected', async (invalid) => {
  const { id } = await simulator.wallet('Ada').pay(await createIntent({ mode: 'payment', order: 'tea' }));
  const response = await callWebhook(id, { invalid });
  expect(response.body.code).toBe('invalid_webhook');
});

test('the site answers 503 while the sequencer is down', async () => {
  const clear = simulator.injectFault('disconnect');
  const { body } = await browser.post('/intent').send({ mode: 'payment', order: 'tea' }).expect(503);
  expect(body.code).toBe('sequencer_unreachable');
  clear();
  await createIntent({ mode: 'payment', order: 'tea' });
});

test('a lost response creates no second intent', async () => {
  simulator.injectFault({ kind: 'cut', operations: ['createIntent'], when: 'after', times: 1 });
  await createIntent({ mode: 'payment', order: 'tea' });
});
