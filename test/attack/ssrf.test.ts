import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { createIntentClient } from '../../src/client.js';
import { type Sequencer, startSequencer } from '../../src/emulator/index.js';
import { Browser } from '../support/browser/browser.js';
import { eventually } from '../support/eventually.js';
import { generateJwtKey, jwtOf } from '../support/sites/service-jwt.js';
import { destination, startSiteWithSequencer } from '../support/sites/site.js';
import { Lane } from './support/lane.js';
import { begin } from './support/people.js';

/** A service inside, which nobody outside should get called: it listens on every address of this machine, and counts. */
let trap: Server;
let port: number;
let connections = 0;
/** The paths that were asked for. */
const asked: string[] = [];

beforeAll(async () => {
  trap = createServer((req, res) => {
    asked.push(req.url ?? '');
    res.end('the keys of the cloud');
  });
  trap.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => trap.listen(0, resolve));
  port = (trap.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => trap.close(resolve)));

/** Counts what is called of the trap meanwhile, but for what is called at `/sound`. */
async function strayCalls(act: () => Promise<unknown>): Promise<number> {
  const before = { connections, asked: asked.length };
  await act();
  const sound = asked.slice(before.asked).filter((path) => path.startsWith('/sound')).length;
  return connections - before.connections - sound;
}
let sounds = 0;

/** Addresses of this machine from outside, where it has any. */
const ownAddresses = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .filter(({ internal }) => !internal)
  .map(({ address, family }) => (family === 'IPv6' ? `[${address.split('%')[0]}]` : address));

describe('SSRF to private addresses', () => {
  let sequencer: Sequencer;
  beforeAll(async () => {
    sequencer = await startSequencer();
  });
  afterAll(() => sequencer.close());

  /** Registers a webhook for a payment, pays, and waits until a sound webhook that was registered after it was called. */
  async function payWithWebhook(url: string): Promise<string> {
    const client = createIntentClient({ url: sequencer.url });
    const pay = async (webhook: string): Promise<string> => {
      const { id, clientSecret } = await client.paymentIntents.create({ destination, amount: 1, currency: 'usd' });
      const outcome = await client.registerWebhook({ intent: id, url: webhook }).then(
        () => 'taken',
        () => 'refused',
      );
      await sequencer.wallet().pay(clientSecret);
      return outcome;
    };
    const outcome = await pay(url);
    const sound = `/sound/${sounds++}`;
    await pay(`http://127.0.0.1:${port}${sound}`);
    await eventually(() => asked.includes(sound));
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
  ])('a webhook at %s is called neither over http nor over https', async (host) => {
    const stray = await strayCalls(async () => {
      expect(await payWithWebhook(`http://${host}:${port}/inside`)).toBe('refused');
      await payWithWebhook(`https://${host}:${port}/inside`);
    });
    expect(stray).toBe(0);
  });

  test('where a webhook redirects to is not called', async () => {
    const outer = createServer((_req, res) => {
      res.writeHead(307, { location: `http://127.0.0.1:${port}/inside` }).end();
    });
    await new Promise<void>((resolve) => outer.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(outer.address() as AddressInfo).port}/`;
    expect(await strayCalls(() => payWithWebhook(url))).toBe(0);
    await new Promise((resolve) => outer.close(resolve));
  });

  test.each(['file:///etc/passwd', 'gopher://127.0.0.1/', 'ftp://127.0.0.1/', 'data:,x', '//127.0.0.1/', ''])(
    '%j is no webhook',
    async (url) => {
      expect(await payWithWebhook(url)).toBe('refused');
    },
  );
});

describe('no proxying of URLs that a stranger names', () => {
  test('whatever address a request has in it, in whatever place, the site calls nobody but its service', async () => {
    const { publicKey: webhookPublicKey, privateKey } = generateJwtKey();
    const origin = 'https://shop.example';
    const site = await startSiteWithSequencer({ webhook: true, webhookPublicKey, origin });
    const url = `http://127.0.0.1:${port}/inside`;
    const { id } = await begin(new Browser(site.origin, new Map(), origin));
    const lane = new Lane(site.origin);
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
      for (const request of requests) expect((await lane.send(request)).status).toBeLessThan(500);
      // What is still under way has its time.
      await new Promise((resolve) => setTimeout(resolve, 100));
    });
    lane.close();
    expect(stray).toBe(0);
  });
});
