import express from 'express';
import request from 'supertest';
import { parseClientSecret, rendezvousKeyPair } from '../../../src/intents/payload.js';
import { type IntentRouter, intentRouter } from '../../../src/router/intent-router.js';
import type { IntentRouterOptions } from '../../../src/router/options.js';
import { kindsOf, poll } from '../../simulator/fixture.js';
import { eventually } from '../../support/eventually.js';
import { post } from '../../support/sites/post.js';
import { serve } from '../../support/sites/serve.js';
import { generateJwtKey, jwtOf } from '../../support/sites/service-jwt.js';
import { destination, domain, LogRecorder, verifierSecret } from '../../support/sites/site.js';

const routers: IntentRouter[] = [];
afterEach(async () => {
  for (const router of routers.splice(0)) await router.close();
});

/** A site with its own simulator. `posted` has the responses of its webhook route. */
async function startSimulated(mountPath = '/', options: IntentRouterOptions = {}) {
  const log = new LogRecorder();
  const payment = () => ({ amount: 5, currency: 'usd' });
  const simulated = { sequencer: { url: 'simulator' }, simulator: { port: 0 }, webhook: true };
  const router = intentRouter({
    ...simulated,
    login: { verifierSecret, domain },
    destination,
    payment,
    logger: log,
    ...options,
  });
  routers.push(router);
  const { url = '', walletUrl = '' } = (await router.ready()) ?? {};
  const posted: [path: string, status: number][] = [];
  const app = express().use((req, res, next) => {
    const path = req.originalUrl;
    if (path.endsWith('/webhook')) res.on('finish', () => posted.push([path, res.statusCode]));
    next();
  });
  const origin = await serve(app.use(mountPath, router));
  return { router, url, walletUrl, origin, log, posted };
}

async function secretOf(origin: string, path: string, body: object): Promise<string> {
  const answer = await post(origin, path).send(body).expect(201);
  return answer.body.client_secret;
}

const confirm = (walletUrl: string, code: string) =>
  request(walletUrl).post('/api/confirm').send({ wallet: 'Ada', code }).expect(200);

/** Polls the mailbox until the sequencer reports its webhook call. */
async function kindsAfterWebhook(url: string, clientSecret: string): Promise<(string | undefined)[]> {
  let kinds: (string | undefined)[] = [];
  await eventually('the webhook was called', async () => {
    kinds = kindsOf(await poll(url, rendezvousKeyPair(parseClientSecret(clientSecret))));
    return kinds.includes('webhookCalled');
  });
  return kinds;
}

describe('a site with the simulator, without a configured key or origin (protocol 5)', () => {
  test.each([
    ['payment', '', ['requestToReceiveBill', 'codeScanned', 'intentSubmitted', 'webhookCalled']],
    ['payment', '/pay', expect.arrayContaining(['intentSubmitted', 'webhookCalled'])],
    ['login', '', expect.arrayContaining(['intentSubmitted', 'webhookCalled'])],
  ])('receives the webhook call of a %s when mounted at "%s"', async (mode, mountPath, kinds) => {
    const { url, walletUrl, origin, posted } = await startSimulated(mountPath || '/');
    const code = await secretOf(origin, `${mountPath}/intent`, { mode });
    await confirm(walletUrl, code);
    expect(await kindsAfterWebhook(url, code)).toEqual(kinds);
    await eventually(() => expect(posted).toEqual([[`${mountPath}/intent/webhook`, 200]]));
  });

  test('with a configured public key rejects the calls of any other key', async () => {
    const other = generateJwtKey();
    const { walletUrl, url, origin } = await startSimulated('/', { webhook: { publicKeys: [other.publicKey] } });
    const code = await secretOf(origin, '/intent', {});
    await confirm(walletUrl, code);
    expect(await kindsAfterWebhook(url, code)).toContain('webhookCalled');
    const forged = jwtOf({ intent: destination, state: 'SUBMITTED' }, other);
    await request(origin).post('/intent/webhook').set('content-type', 'application/jwt').send(forged).expect(400);
  });

  test('with another public origin is called on this machine', async () => {
    const { walletUrl, url, origin, posted } = await startSimulated('/', { origin: 'https://tunnel.example' });
    const code = await secretOf(origin, '/intent', {});
    await confirm(walletUrl, code);
    expect(await kindsAfterWebhook(url, code)).toContain('webhookCalled');
    await eventually(() => expect(posted).toEqual([['/intent/webhook', 200]]));
  });

  test('with webhook: false receives no call', async () => {
    const { router, walletUrl, origin, posted } = await startSimulated('/', { webhook: false });
    const code = await secretOf(origin, '/intent', {});
    await confirm(walletUrl, code);
    await router.close();
    expect(posted).toEqual([]);
  });
});
