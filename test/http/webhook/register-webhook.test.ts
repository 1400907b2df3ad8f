import request from 'supertest';
import { v1 } from '../../../src/wire/codec.js';
import { newDatabaseUrl } from '../../support/databases/databases.js';
import { eventually } from '../../support/eventually.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { post } from '../../support/sites/post.js';
import { generateJwtKey } from '../../support/sites/service-jwt.js';
import { type SiteOptions, startSite } from '../../support/sites/site.js';
import { holdTimeouts } from '../../support/timeouts.js';
import { recordingTransport } from '../../support/transports/recording-transport.js';

const { Result } = v1.RegisterWebhookResponse;
const { publicKey: webhookPublicKey } = generateJwtKey();

function startWebhookSite(options: SiteOptions = {}) {
  const transport = recordingTransport();
  const payment = () => ({ amount: 5, currency: 'usd' });
  const given = {
    sequencer: { transport },
    webhook: { publicKeys: [webhookPublicKey] },
    origin: 'https://shop.example',
    payment,
  };
  return startSite(given, options).then((site) => ({ ...site, transport }));
}

async function createIntent(origin: string, body: object = { order: 1 }, path = '/intent'): Promise<string> {
  const answer = await post(origin, path).send(body).expect(201);
  return intentIdOf(answer.body.client_secret);
}

test.each([['payment'], ['login']])('POST /intent registers the absolute URL once for a %s', async (mode) => {
  const { origin, transport } = await startWebhookSite();
  const intent = await createIntent(origin, { mode });
  expect(transport.registered()).toEqual([{ intent, url: 'https://shop.example/intent/webhook' }]);
});

test('createPayment registers the webhook with the mount path of the latest request', async () => {
  const routerOptions = {
    mountPath: '/shop',
    ledger: { url: await newDatabaseUrl('embedded') },
    onPaid: () => undefined,
  };
  const { origin, router, transport } = await startWebhookSite(routerOptions);
  const createPayment = () => router.createPayment({ amount: 5, currency: 'usd' });
  const urls = () => transport.registered().map(({ url }) => url);
  await createPayment();
  expect(urls()).toEqual(['https://shop.example/intent/webhook']);
  await request(origin).get('/shop/any').expect(404);
  await createPayment();
  expect(urls().slice(1)).toEqual(['https://shop.example/shop/intent/webhook']);
});

test.each([
  ['/.well-known/service-payments.json', 200],
  ['/.well-known/service-payments.json/', 404],
  ['/healthz', 200],
])('createPayment keeps the mount path after a request for %s at the root', async (path, status) => {
  // A busy machine may need more than the 0.8 s that a health check waits for the database.
  holdTimeouts(800);
  const routerOptions = {
    mountPath: '/shop',
    routes: { health: '/healthz' },
    ledger: { url: await newDatabaseUrl('embedded') },
    onPaid: () => undefined,
  };
  const { app, origin, router, transport } = await startWebhookSite(routerOptions);
  app.get(path, router);
  await request(origin).get('/shop/any').expect(404);
  await request(origin).get(path).expect(status);
  await router.createPayment({ amount: 5, currency: 'usd' });
  expect(transport.registered().map(({ url }) => url)).toEqual(['https://shop.example/shop/intent/webhook']);
});

test('POST /intent never registers a host of the request', async () => {
  const { origin, transport } = await startWebhookSite();
  await post(origin).set({ host: 'stranger.example', 'x-forwarded-host': 'stranger.example' }).send({}).expect(201);
  expect(transport.registered()).toMatchObject([{ url: 'https://shop.example/intent/webhook' }]);
});

test('POST /intent registers nothing without webhook: true, nor for an intent that was not created', async () => {
  const silent = await startWebhookSite({ webhook: false });
  await createIntent(silent.origin);
  expect(silent.transport.registered()).toEqual([]);

  const refusing = await startWebhookSite();
  refusing.transport.failWith(new Error('no line'));
  await post(refusing.origin).send({}).expect(500);
  expect(refusing.transport.registered()).toEqual([]);
});

test('POST /intent answers before the registration ends', async () => {
  const { origin, transport, log } = await startWebhookSite();
  const end = transport.hold('registerWebhook');
  await createIntent(origin);
  expect(transport.registered()).toHaveLength(1);
  end(new Error('far too late'));
  await eventually('a log line', () => log.lines.length > 0);
  expect(log.lines).toEqual([expect.stringMatching(/^warn .*was not registered: far too late/)]);
});

test.each([
  ['ALREADY_REGISTERED', Result.ALREADY_REGISTERED, []],
  ['REQUEST_NOT_FOUND', Result.REQUEST_NOT_FOUND, ['The intent does not exist']],
  ['INTENT_EXISTS', Result.INTENT_EXISTS, ['refused the webhook: INTENT_EXISTS. The intent is submitted']],
  ['INVALID_URL', Result.INVALID_URL, ['refused the webhook: INVALID_URL. The webhook URL must be https']],
])('the registration result %s is logged unless the webhook is registered', async (_name, result, lines) => {
  const { origin, transport, log } = await startWebhookSite();
  transport.answerWith('registerWebhook', Uint8Array.of(0x08, result));
  await createIntent(origin);
  await eventually(() => transport.registered().length === 1 && log.lines.length === lines.length);
  expect(log.lines).toEqual(lines.map((line) => expect.stringContaining(line)));
});

test('at most 32 registrations run at the same time', async () => {
  // The timeouts prevent retries during the test.
  const { origin, transport, log } = await startWebhookSite({ sequencer: { timeoutMs: 160_000 } });
  const end = transport.hold('registerWebhook');
  for (let n = 0; n < 33; n += 1) await createIntent(origin);
  expect(transport.registered()).toHaveLength(32);
  expect(log.lines).toEqual([expect.stringContaining('32 other registrations are running')]);
  end();
  await new Promise(setImmediate);
  await createIntent(origin);
  expect(transport.registered()).toHaveLength(33);
});
