import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { createIntentClient } from '../../src/client.js';
import { parseIntentId } from '../../src/keys/base58.js';
import { type Simulator, startSimulator } from '../../src/simulator/index.js';
import { encode, v1 } from '../../src/wire/codec.js';
import { encodeRequest, operations } from '../../src/wire/envelope.js';
import { Browser } from '../support/browser/browser.js';
import { eventually } from '../support/eventually.js';
import { generateJwtKey, jwtOf } from '../support/sites/service-jwt.js';
import { destination, startSiteWithSimulator } from '../support/sites/site.js';
import { createIntent } from './support/browsers.js';
import { KeepAliveConnection } from './support/keep-alive-connection.js';

/** An internal service that attackers must not reach. It listens on all addresses of this machine and counts. */
let trap: Server;
let port: number;
let connections = 0;
/** The requested paths. */
const requested: string[] = [];

beforeAll(async () => {
  trap = createServer((req, res) => {
    requested.push(req.url ?? '');
    res.end('the keys of the cloud');
  });
  trap.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => trap.listen(0, resolve));
  port = (trap.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => trap.close(resolve)));

/** The number of connections to the trap during `act`, without those to `/allowed`. */
async function strayCalls(act: () => Promise<unknown>): Promise<number> {
  const before = { connections, requested: requested.length };
  await act();
  const allowed = requested.slice(before.requested).filter((path) => path.startsWith('/allowed')).length;
  return connections - before.connections - allowed;
}
let allowedCount = 0;

/** The external addresses of this machine, if any. */
const ownAddresses = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .filter(({ internal }) => !internal)
  .map(({ address, family }) => (family === 'IPv6' ? `[${address.split('%')[0]}]` : address));

describe('SSRF to private addresses', () => {
  let simulator: Simulator;
  beforeAll(async () => {
    simulator = await startSimulator();
  });
  afterAll(() => simulator.close());

  /** Registers a webhook as a page in the browser of the developer does. */
  async function registerFromPage(id: string, webhook: string): Promise<void> {
    const body = encode(v1.RegisterWebhookRequest, { intentId: { value: parseIntentId(id) }, url: webhook });
    const headers = { 'content-type': 'application/octet-stream', origin: 'https://evil.example' };
    const request = { method: 'POST', headers, body: encodeRequest(operations.registerWebhook, body) };
    expect((await fetch(`${simulator.url}/v1/api`, request)).status).toBe(200);
  }

  /** Registers a webhook for a payment, pays, and waits for the call of an allowed webhook that is registered after it. */
  async function payWithWebhook(
    url: string,
    register?: (id: string, webhook: string) => Promise<unknown>,
  ): Promise<string> {
    const client = createIntentClient({ url: simulator.url });
    const registerFromServer = (intent: string, webhook: string) => client.registerWebhook({ intent, url: webhook });
    const pay = async (webhook: string, send: typeof register = registerFromServer): Promise<string> => {
      const { id, clientSecret } = await client.paymentIntents.create({ destination, amount: 1, currency: 'usd' });
      const outcome = await send(id, webhook).then(
        () => 'accepted',
        () => 'rejected',
      );
      await simulator.wallet().pay(clientSecret);
      return outcome;
    };
    const outcome = await pay(url, register);
    const allowed = `/allowed/${allowedCount++}`;
    await pay(`http://127.0.0.1:${port}${allowed}`);
    await eventually(() => requested.includes(allowed));
    await client.close();
    return outcome;
  }

  test.each([
    ...['127.0.0.2', '0.0.0.0', '0', '127.1.1.1', '[::]', '[::ffff:127.0.0.2]', '[::ffff:7f00:2]', '[64:ff9b::7f00:1]'],
    ...['169.254.169.254', '10.0.0.1', '192.168.0.1', '172.16.0.1', '100.64.0.1', '[fd00::1]', '[fe80::1]'],
    ...[
      'localhost.',
      'localtest.me',
      '127.0.0.1.nip.io',
      'localhost@127.0.0.2',
      '127.0.0.1@127.0.0.2',
      ...ownAddresses,
    ],
  ])('is rejected for a webhook at %s, over http and https', async (host) => {
    const stray = await strayCalls(async () => {
      expect(await payWithWebhook(`http://${host}:${port}/inside`)).toBe('rejected');
      await payWithWebhook(`https://${host}:${port}/inside`);
    });
    expect(stray).toBe(0);
  });

  test('does not happen through a redirect of a webhook', async () => {
    const outer = createServer((_req, res) => {
      res.writeHead(307, { location: `http://127.0.0.1:${port}/inside` }).end();
    });
    await new Promise<void>((resolve) => outer.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(outer.address() as AddressInfo).port}/`;
    expect(await strayCalls(() => payWithWebhook(url))).toBe(0);
    await new Promise((resolve) => outer.close(resolve));
  });

  test('does not happen for a webhook on this machine that a page of another origin registers', async () => {
    expect(await strayCalls(() => payWithWebhook(`http://127.0.0.1:${port}/inside`, registerFromPage))).toBe(0);
  });

  test.each(['file:///etc/passwd', 'ftp://127.0.0.1/', '//127.0.0.1/'])(
    'is rejected for the webhook URL %j',
    async (url) => {
      expect(await payWithWebhook(url)).toBe('rejected');
    },
  );
});

describe('SSRF by URLs in requests', () => {
  test('does not happen: the site calls only its service', async () => {
    const { publicKey: webhookPublicKey, privateKey } = generateJwtKey();
    const origin = 'https://shop.example';
    const site = await startSiteWithSimulator({ webhook: { publicKeys: [webhookPublicKey] }, origin });
    const url = `http://127.0.0.1:${port}/inside`;
    const { id } = await createIntent(new Browser(site.origin, new Map(), origin));
    const connection = new KeepAliveConnection(site.origin);
    const everywhere = {
      ...{
        'sec-fetch-site': 'same-origin',
        referer: url,
        forwarded: `host=127.0.0.1:${port}`,
        cookie: `intent=${url}`,
      },
      ...{
        'x-forwarded-host': `127.0.0.1:${port}`,
        'x-original-url': url,
        'last-event-id': url,
        'idempotency-key': 'k',
      },
      ...{ host: `127.0.0.1:${port}`, via: url, 'x-webhook-url': url, 'x-callback': url, 'if-none-match': url },
    };
    const json = { ...everywhere, 'content-type': 'application/json' };
    const order = { order: { url, callback: url, webhook: url, image: `<img src="${url}">` } };
    const jwt = { ...everywhere, 'content-type': 'application/jwt' };
    const claims = { intent: id, state: 'SUBMITTED', url, iss: url, aud: url };
    const requests = [
      { method: 'POST', path: `/intent?url=${url}`, headers: json, body: JSON.stringify(order) },
      { method: 'POST', path: '/intent', headers: json, body: JSON.stringify({ ...order, webhook: url }) },
      { method: 'POST', path: '/session', headers: json, body: JSON.stringify({ id: url }) },
      { method: 'GET', path: `/status/${encodeURIComponent(url)}`, headers: everywhere },
      { method: 'GET', path: `/intent/${encodeURIComponent(url)}/events`, headers: everywhere },
      { method: 'GET', path: `/session?next=${url}`, headers: everywhere },
      ...[{ jku: url }, { x5u: url }, { kid: url }, { jwk: { url } }, {}].map((header) => ({
        ...{ method: 'POST', path: '/intent/webhook', headers: jwt },
        body: jwtOf(claims, { privateKey }, { alg: 'EdDSA', ...header }),
      })),
    ];
    const stray = await strayCalls(async () => {
      for (const request of requests) expect((await connection.send(request)).status).toBeLessThan(500);
      // Time for calls in progress.
      await new Promise((resolve) => setTimeout(resolve, 100));
    });
    connection.close();
    expect(stray).toBe(0);
  });
});
