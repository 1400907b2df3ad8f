import { sameOriginHeaders, startSimulator, temporaryLedger, waitForIntent } from 'express-intents/testing';
import request from 'supertest';
import { createShop } from './app.js';

test('a settled payment creates an order', async () => {
  const simulator = await startSimulator(); // on a free port, with three wallets
  const ledger = await temporaryLedger();
  const { app, router } = await createShop(simulator.siteOptions({ ledger: { url: ledger.url } }));
  const browser = request.agent(app).set(sameOriginHeaders);

  const { body } = await browser.post('/intent').send({ mode: 'payment', order: 'tea' }).expect(201);
  const { id } = await simulator.wallet('Ada').pay(body.client_secret);
  await waitForIntent(router, id, 'settled'); // onPaid has succeeded

  expect((await router.database.query('select * from orders')).rows).toEqual([{ id, item: 'tea' }]);
  await browser.get(`/thanks/${id}`).expect(200, 'Paid. Thank you! Your order: tea.');
  await router.close();
  await simulator.close();
  await ledger.remove();
}, 120_000); // creating the first ledger takes a few seconds, on a busy machine a minute
