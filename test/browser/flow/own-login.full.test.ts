import type { Router } from 'express';
import session from 'express-session';
import type { Page } from 'playwright-core';
import { createSigner, type Signer } from '../../../src/keys/verifier-key.js';
import type { IntentClient } from '../../../src/sequencer/intent-client.js';
import { domain, verifierSecret } from '../../support/sites/site.js';
import { buttonScript, closed, event, idOf, part, scan, seen, state } from '../support/checkout.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium } from '../support/visit.js';

// Logins that a route of the site creates, and that the site completes (interface section 4.8). The routes are those of the example.

const { walletLogin } = (await import(
  new URL('../../../docs/examples/own-login/wallet-login.js', import.meta.url).href
)) as { walletLogin: (options: { client: IntentClient; signer: Signer; domain: string }) => Router };

const open = useChromium();
const signer = createSigner(verifierSecret);
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite({
    login: { verifierSecret, domain },
    routes: { session: false },
    after: (app) => {
      // The site has started when the first request arrives.
      const client = {
        loginIntents: new Proxy({}, { get: (_, name) => site.router.client.loginIntents[name as 'create'] }),
      };
      app.use(session({ secret: 'a secret of the test', resave: false, saveUninitialized: false }));
      app.use(walletLogin({ client: client as IntentClient, signer, domain }));
      app.get('/who', (req, res) => void res.json({ user: (req.session as { userId?: string }).userId ?? null }));
    },
  });
});

const post = `const post = async (path, body) => (await fetch(path, {
  method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
})).json();`;
const invoke = `${post}
button.on('invoke', async () => button.update({ clientSecret: (await post('/wallet-login')).client_secret }));
button.on('success', async ({ intent }) => note('completed', await post('/wallet-login/complete', { intent })));`;
const login = { mode: 'login', order: undefined };

const namesIn = async (page: Page): Promise<string[]> => (await seen(page)).map(([name]) => name);
const who = (page: Page): Promise<unknown> => page.evaluate(async () => (await (await fetch('/who')).json()).user);
const posted = (page: Page, path: string, body: object) =>
  page.evaluate(
    async ([url, json]) => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(url as string, { method: 'POST', headers, body: json as string });
      return { status: response.status, body: await response.json() };
    },
    [path, JSON.stringify(body)],
  );

test('a login whose secret an invoke handler provides ends with success and its id, and the site completes it', async () => {
  const { page, requests } = await open(site.page({ script: buttonScript(login, invoke) }));
  await part(page, 'button').click();
  const code = await scan(page);
  await site.simulator.wallet('Ada').login(code);
  const userId = site.simulator.wallet('Ada').userId(domain);
  expect(await event(page, 'completed')).toEqual({ user: { id: userId } });
  expect(await event(page, 'success')).toEqual({ intent: idOf(code) });
  expect(await namesIn(page)).not.toContain('error');
  expect(await who(page)).toBe(userId);
  expect(requests.map((request) => new URL(request.url()).pathname)).not.toContain('/session');
});

test('a login whose secret is the option login.clientSecret ends with success and its id', async () => {
  const script = buttonScript(
    {},
    `${post}
const { client_secret: clientSecret } = await post('/wallet-login');
button.login = { clientSecret, verifier: ${JSON.stringify(signer.publicKey)} };
button.mode = 'login';
note('ready');`,
  );
  const { page } = await open(site.page({ script }));
  await event(page, 'ready');
  await part(page, 'button').click();
  const code = await scan(page);
  await site.simulator.wallet('Ada').login(code);
  expect(await event(page, 'success')).toEqual({ intent: idOf(code) });
  expect(await namesIn(page)).not.toContain('error');
});

test('a login of the site that is confirmed after a reload of the page ends with success', async () => {
  const { page } = await open(site.page({ script: buttonScript(login, invoke) }));
  await part(page, 'button').click();
  const code = await scan(page);
  await page.reload();
  await part(page, 'button').waitFor();
  await site.simulator.wallet('Ada').login(code);
  expect(await event(page, 'success')).toEqual({ intent: idOf(code) });
  expect(await namesIn(page)).not.toContain('error');
});

test('a payment with login whose secret the page provides ends with success without an error', async () => {
  const { page } = await open(site.page({ script: buttonScript({ login: {} }, 'globalThis.button = button;') }));
  const { clientSecret } = await site.router.client.paymentIntents.create({
    destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
    amount: '9.99',
    currency: 'usd',
    login: { verifier: signer.publicKey, domain },
    signers: [signer],
  });
  await page.evaluate((secret) => {
    (globalThis as unknown as { button: { update(given: object): void } }).button.update({ clientSecret: secret });
  }, clientSecret);
  await part(page, 'button').click();
  await state(page, 'waiting');
  await site.simulator.wallet('Ada').pay(clientSecret);
  expect(await event(page, 'success')).toEqual({ intent: idOf(clientSecret) });
  expect(await namesIn(page)).not.toContain('error');
});

test('the id of the login of another visitor logs nobody in', async () => {
  const { page } = await open(site.page({ script: buttonScript(login, invoke) }));
  await page.route('**/wallet-login/complete', () => undefined);
  await part(page, 'button').click();
  const code = await scan(page);
  await site.simulator.wallet('Ada').login(code);
  await event(page, 'success');

  const thief = await open(site.page({ script: buttonScript(login, invoke) }));
  thief.forgive(/status of 404/);
  expect(await posted(thief.page, '/wallet-login/complete', { intent: idOf(code) })).toMatchObject({ status: 404 });
  // Also with a login of their own in the session.
  await posted(thief.page, '/wallet-login', {});
  expect(await posted(thief.page, '/wallet-login/complete', { intent: idOf(code) })).toMatchObject({ status: 404 });
  expect(await who(thief.page)).toBe(null);
});

test.each([
  ['is not Base58', '0OIl'],
  ['has 31 bytes', '1'.repeat(31)],
  ['is empty', ''],
])('a verifier that %s is refused with an error that names it', async (_name, verifier) => {
  const visit = await open(site.page({ script: buttonScript({ ...login, login: { verifier } }) }));
  visit.forgive(/The verifier must be a public key/);
  expect(visit.faults.join()).toContain('The verifier must be a public key, Base58 of 32 bytes.');
});

test('a login whose secret is an option shows it again after a cancel, and asks no route of the router', async () => {
  const script = buttonScript(
    login,
    `${post}
const { client_secret: clientSecret } = await post('/wallet-login');
button.login = { clientSecret };
note('ready');`,
  );
  const { page, requests } = await open(site.page({ script }));
  await event(page, 'ready');
  await part(page, 'button').click();
  const first = await scan(page);
  await part(page, 'close').click();
  await closed(page);
  await part(page, 'button').click();
  const second = await scan(page);
  expect(second).toBe(first);
  await site.simulator.wallet('Ada').login(second);
  expect(await event(page, 'success')).toEqual({ intent: idOf(second) });
  expect(requests.filter((request) => request.method() === 'POST')).toHaveLength(1);
});
