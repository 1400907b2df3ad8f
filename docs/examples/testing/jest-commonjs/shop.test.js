const express = require('express');
const { intentRouter } = require('express-intents');
const { sameOriginHeaders, startSimulator, temporaryLedger, waitForIntent } = require('express-intents/testing');
const request = require('supertest');

let simulator, ledger, router, browser;

beforeAll(async () => {
  simulator = await startSimulator();
  ledger = await temporaryLedger();
  const payment = () => ({ amount: '4.50', currency: 'usd' });
  router = intentRouter(simulator.siteOptions({ ledger: { url: ledger.url }, payment }));
  browser = request.agent(express().use(router)).set(sameOriginHeaders);
  await router.ready();
});

afterAll(async () => {
  await router.close();
  await simulator.close();
  await ledger.remove();
});

test('a payment is settled', async () => {
  const { body } = await browser.post('/intent').send({ mode: 'payment' }).expect(201);
  const { id } = await simulator.wallet('Ada').pay(body.client_secret);
  await waitForIntent(router, id, 'settled');
});

test('a login starts a session', async () => {
  const { body } = await browser.post('/intent').send({ mode: 'login' }).expect(201);
  const { id, userId } = await simulator.wallet('Ada').login(body.client_secret);
  await browser
    .post('/session')
    .send({ id })
    .expect(200, { user: { id: userId } });
});
