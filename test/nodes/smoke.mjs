// Runs in a project with the packed package, on any Node: loads it with import and require, settles a payment in a ledger, and
// completes a login. Prints one line and exits.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';
import express from 'express';
import * as imported from 'express-intents';
import { startSimulator } from 'express-intents/testing';

const required = createRequire(import.meta.url)('express-intents');
for (const [name, value] of Object.entries(imported))
  assert.equal(required[name], value, `require gives another ${name}`);
const { createServer, generateKeyPair, intentRouter, requireLogin } = imported;

const simulator = await startSimulator();
const router = intentRouter({
  sequencer: { url: simulator.url },
  button: { walletUrl: simulator.walletUrl },
  login: { verifierSecret: generateKeyPair().secret, domain: 'shop.example' },
  destination: generateKeyPair().publicKey,
  ledger: { url: 'ledger' },
  payment: () => ({ amount: '4.50', currency: 'usd', metadata: { order: 7 } }),
  onPaid: async (payment, { tx }) => {
    await tx.query('insert into orders (id, item) values ($1, $2)', [payment.id, payment.metadata.order]);
  },
});
await router.ready();
await router.database.query('create table orders (id text primary key, item int)');
const app = express().use(router);
app.get('/account', requireLogin(), (req, res) => void res.send(req.intent.user.id));
const server = createServer(app).listen(0, '127.0.0.1');
await once(server, 'listening');
const site = `http://127.0.0.1:${server.address().port}`;
simulator.setLocalDomain('shop.example', site);

/** Sends a request like a page of the site. */
async function post(path, body, cookie = '') {
  const headers = { 'content-type': 'application/json', origin: site, cookie };
  const answer = await fetch(`${site}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const cookies = answer.headers.getSetCookie().map((line) => line.split(';')[0]);
  return { status: answer.status, body: await answer.json(), cookie: cookies.join('; ') };
}

const payment = await post('/intent', { mode: 'payment', order: 'tea' });
assert.equal(payment.status, 201);
const { id } = await simulator.wallet('Ada').pay(payment.body.client_secret);
const endsAt = Date.now() + 20_000;
while ((await router.intents.find(id))?.state !== 'settled') {
  assert.ok(Date.now() < endsAt, 'the payment did not settle');
  await wait(20);
}
assert.deepEqual((await router.database.query('select * from orders')).rows, [{ id, item: 7 }]);

const begun = await post('/intent', { mode: 'login' });
const login = await simulator.wallet('Ada').login(begun.body.client_secret);
const done = await post('/session', { id: login.id }, begun.cookie);
assert.deepEqual(done.body, { user: { id: simulator.wallet('Ada').userId('shop.example') } });
const account = await fetch(`${site}/account`, { headers: { cookie: done.cookie } });
assert.equal(await account.text(), done.body.user.id);

server.close();
server.closeAllConnections();
await router.close();
await simulator.close();
console.log(`Node ${process.versions.node}: imported, required, paid, settled, logged in.`);
