import { jest } from '@jest/globals';
import {
  advanceTime,
  sameOriginHeaders,
  startSequencer,
  temporaryLedger,
  waitForIntent,
} from 'express-intents/testing';
import request from 'supertest';
import { createShop } from './app.js';

const minute = 60_000;
const onPaid = jest.fn();
const onReversed = jest.fn();
let sequencer, ledger, app, router, browser;

beforeAll(async () => {
  sequencer = await startSequencer();
  ledger = await temporaryLedger();
  const webhook = { webhook: true, origin: 'http://shop.example' }; // https would make the cookies Secure
  const options = { ...sequencer.siteOptions(), databaseUrl: ledger.url, onPaid, onReversed, ...webhook };
  ({ app, router } = await createShop(options));
}, 30_000); // the first ledger takes some seconds to make

beforeEach(() => {
  browser = request.agent(app).set(sameOriginHeaders); // keeps cookies, as a browser does
});

afterEach(() => {
  sequencer.clearFaults();
  jest.resetAllMocks();
});

afterAll(async () => {
  await router.close();
  await sequencer.close();
  await ledger.remove();
});

/** What the button does when it is clicked: gives the code that a wallet scans. */
async function begin(order) {
  const { body } = await browser.post('/intent').send(order).expect(201);
  return body.client_secret;
}

test('a payment', async () => {
  const code = await begin({ mode: 'payment', order: 'cup' });
  const { id, amount, currency } = await sequencer.wallet('Ada').pay(code);
  expect({ amount, currency }).toEqual({ amount: '18.00', currency: 'usd' });

  await waitForIntent(router, id, 'settled'); // onPaid has succeeded
  expect(onPaid.mock.calls[0][0]).toMatchObject({ id, amount: '18.00', metadata: { item: 'cup' } });
  await browser.get(`/thanks/${id}`).expect(200, 'Paid. Thank you!');
});

test('what is not sold', async () => {
  await browser.post('/intent').send({ mode: 'payment', order: 'gold' }).expect(404);
});

test('a payment that is declined, and paid by somebody else after all', async () => {
  const code = await begin({ mode: 'payment', order: 'tea' });
  const { id } = await sequencer.wallet('Ada').decline(code);
  await browser.get(`/thanks/${id}`).expect(200, 'Not paid yet.');

  await sequencer.wallet('Ben').pay(code);
  await waitForIntent(router, id, 'settled');
});

test('a login', async () => {
  await browser.get('/account').expect(401);
  const { id, userId } = await sequencer.wallet('Mia').login(await begin({ mode: 'login' }));
  const { body } = await browser.post('/session').send({ id }).expect(200);
  expect(body.user.id).toBe(userId);
  await browser.get('/account').expect(200, `Hello ${userId}`);
});

test('a login cannot be taken over by another browser', async () => {
  const { id } = await sequencer.wallet('Mia').login(await begin({ mode: 'login' }));
  const stranger = request.agent(app).set(sameOriginHeaders);
  await stranger.post('/session').send({ id }).expect(404);
});

test('wallets find the key file, which nothing in the app stands in front of', async () => {
  sequencer.setLocalDomain('shop.example', app); // from now on it is read, as a real service does
  await sequencer.wallet('Mia').login(await begin({ mode: 'login' }));
});

test('a login that took too long', async () => {
  const { id } = await sequencer.wallet('Mia').login(await begin({ mode: 'login' }));
  await advanceTime(3 * minute, { sequencer, router });
  await browser.post('/session').send({ id }).expect(404);
});

test('a session that is over', async () => {
  const { id } = await sequencer.wallet('Mia').login(await begin({ mode: 'login' }));
  await browser.post('/session').send({ id }).expect(200);
  await advanceTime(8 * 24 * 60 * minute, { sequencer, router });
  await browser.get('/account').expect(401);
});

test('a payment that comes late', async () => {
  const code = await begin({ mode: 'payment', order: 'tea' });
  await advanceTime(16 * minute, { sequencer, router });
  const { id } = await sequencer.wallet('Ada').pay(code);
  await waitForIntent(router, id, 'settled');
  expect(onPaid.mock.calls[0][1]).toMatchObject({ late: true });
});

test('onPaid fails, and is called again', async () => {
  onPaid.mockRejectedValueOnce(new Error('The printer is out of paper.'));
  const { id } = await sequencer.wallet('Ada').pay(await begin({ mode: 'payment', order: 'tea' }));
  const failed = await waitForIntent(router, id, 'submitted');
  expect(failed.lastError).toContain('out of paper');

  await advanceTime(minute, { sequencer, router }); // or wait for a second
  await waitForIntent(router, id, 'settled');
  expect(onPaid.mock.calls.map(([, { attempt }]) => attempt)).toEqual([1, 2]);
});

test('a payment that is taken back', async () => {
  const { id } = await sequencer.wallet('Ada').pay(await begin({ mode: 'payment', order: 'tea' }));
  await waitForIntent(router, id, 'settled');
  sequencer.reverse(id);
  await advanceTime(2 * minute, { sequencer, router }); // the ledger looks,
  await advanceTime(minute, { sequencer, router }); // and wants to hear it twice
  await waitForIntent(router, id, 'reversed');
  expect(onReversed).toHaveBeenCalledTimes(1);
});

/** The call comes as the service sends it, or wrong in one way. */
async function callWebhook(id, options) {
  const { headers, body } = await sequencer.signWebhook(id, options);
  return request(app).post('/intent/webhook').set(headers).send(body);
}

test('a webhook call', async () => {
  const { id } = await sequencer.wallet('Ada').pay(await begin({ mode: 'payment', order: 'tea' }));
  expect((await callWebhook(id)).status).toBe(200);
  await waitForIntent(router, id, 'settled');
});

test('a webhook call is a hint to look, and settles nothing that is not paid', async () => {
  const { id } = await sequencer.wallet('Ada').scan(await begin({ mode: 'payment', order: 'tea' }));
  expect((await callWebhook(id)).status).toBe(200);
  expect((await router.intents.find(id)).state).toBe('open');
});

test.each(['forged', 'altered', 'expired', 'unsigned'])('a webhook call that is %s', async (invalid) => {
  const { id } = await sequencer.wallet('Ada').pay(await begin({ mode: 'payment', order: 'tea' }));
  const answer = await callWebhook(id, { invalid });
  expect(answer.body.code).toBe('invalid_webhook');
});

test('the service is down, and comes back', async () => {
  const end = sequencer.injectFault('refuse');
  const { body } = await browser.post('/intent').send({ mode: 'payment', order: 'tea' }).expect(503);
  expect(body.code).toBe('sequencer_unreachable');
  end();
  await begin({ mode: 'payment', order: 'tea' });
});

test('an answer that is lost on the way makes no second intent', async () => {
  sequencer.injectFault({ kind: 'cut', operations: ['createIntent'], when: 'after', times: 1 });
  await begin({ mode: 'payment', order: 'tea' });
});
