import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import request from 'supertest';
import { requirePayment } from '../../src/http/paywall/require-payment.js';
import { requireLogin } from '../../src/http/session/require-login.js';
import { Browser } from '../support/browser/browser.js';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { type LedgerSite, startLedgerSite, untilState } from '../support/sites/ledger-site.js';

// `req.intent`, which has what the guards of a route have verified.

const login = requireLogin();
const paid = requirePayment(() => ({ resource: 'tea' }));
const ofApp: RequestHandler = (req, _res, next) => {
  Object.assign(req, { intent: { user: 'of the app' } });
  next();
};
const nullOfApp: RequestHandler = (req, _res, next) => {
  Object.assign(req, { intent: null });
  next();
};
const showUser: RequestHandler = (req, res) => void res.json(req.intent.user.id);
const showPayment: RequestHandler = (req, res) => void res.json(req.intent.payment.id);
const showAll: RequestHandler = (req, res) => void res.json(req.intent);
const showError: ErrorRequestHandler = ({ code, message }, _req, res, _next) => void res.json({ code, message });

let site: LedgerSite;
let browser: Browser;
/** The ids of the user who is logged in, and of the payment of this browser. */
let [user, payment] = ['', ''];

beforeAll(async () => {
  site = await startLedgerSite({
    ledger: { url: await newDatabaseUrl('embedded') },
    payment: () => ({ amount: '0.50', currency: 'usd', resource: 'tea', login: true }),
    after: (app) => {
      app.get('/login-and-payment', login, paid, showAll);
      app.get('/payment-and-login', paid, login, showAll);
      app.get('/name-of-the-app', ofApp, paid, showUser);
      app.get('/null-of-the-app', nullOfApp, paid, showUser);
      app.get('/payment-only', paid, showUser);
      app.get('/login-only', login, showPayment);
      app.get('/none', showPayment);
      app.use(showError);
    },
  });
  browser = new Browser(site.origin);
  const { body } = await browser.send('POST', '/intent', { mode: 'payment' });
  payment = intentIdOf(String(body.client_secret));
  await site.simulator.wallet('Ada').pay(String(body.client_secret));
  await browser.send('GET', `/status/${payment}`);
  await untilState(site, payment, 'settled');
  const completed = await browser.send('POST', '/session', { id: payment });
  user = (completed.body.user as { id: string }).id;
});

test.each(['/login-and-payment', '/payment-and-login'])('on %s it has the user and the payment', async (path) => {
  const { body } = await browser.send('GET', path);
  expect(body).toEqual({ user: { id: user }, payment: expect.objectContaining({ id: payment }) });
});

test.each([
  ['/payment-only', 'requireLogin()'],
  ['/name-of-the-app', 'requireLogin()'],
  ['/null-of-the-app', 'requireLogin()'],
  ['/login-only', 'requirePayment()'],
  ['/none', 'requirePayment()'],
])('on %s reading the other member names the missing guard %s', async (path, guard) => {
  const { body } = await browser.send('GET', path);
  expect(body).toEqual({ code: 'guard_missing', message: expect.stringContaining(guard) });
});

test('it exists in each app in which the sub-app of the router is mounted', async () => {
  const shop = express().use(site.router);
  shop.get('/open', (req, res) => void res.json('intent' in req));
  for (const path of ['/first', '/second']) {
    const { body } = await request(express().use(path, shop)).get(`${path}/open`);
    expect(body).toBe(true);
  }
});
