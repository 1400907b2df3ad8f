import type { LookupAddress } from 'node:dns';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { jest } from '@jest/globals';
import {
  GuardedHttpClient,
  loopbackAddresses,
  publicAddresses,
  type Resolve,
} from '../../../src/simulator/outbound/guarded-http-client.js';
import { localhostCertificate } from '../../support/sites/localhost-certificate.js';

const servers: Server[] = [];

/** A server on 127.0.0.1 that counts its connections. */
async function listen(server: Server): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

const listenTls = (listener: RequestListener) => listen(createServer(localhostCertificate, listener));
const listenPlain = (listener: RequestListener) => listen(createHttpServer(listener));

afterAll(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

/** A DNS with the addresses of a list, one for each lookup. */
function dns(...answers: readonly (readonly string[])[]): Resolve & { readonly lookups: string[] } {
  const lookups: string[] = [];
  const resolve: Resolve = (hostname, _options, done) => {
    const addresses = answers[Math.min(lookups.length, answers.length - 1)] ?? [];
    lookups.push(hostname);
    done(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return Object.assign(resolve, { lookups });
}

const get = { method: 'GET' } as const;
const secret = 'an internal secret';

describe('connections to refused addresses', () => {
  test.each([
    [['127.0.0.1']],
    [['::ffff:127.0.0.1']],
    [['10.0.0.1']],
    [['169.254.169.254']],
    [['8.8.8.8', '127.0.0.1']],
  ])('are not opened for a name that resolves to %j', async (addresses) => {
    const { port, connections } = await listenTls((_req, res) => void res.end(secret));
    const outbound = new GuardedHttpClient(publicAddresses, { resolve: dns(addresses), ca: localhostCertificate.cert });
    await expect(outbound.call(`https://localhost:${port}/`, get)).rejects.toThrow(/^its address .* is not allowed$/);
    expect(connections()).toBe(0);
  });

  test.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1', '2130706433', '0', '169.254.169.254'])(
    'are not opened for the host %s in a URL',
    async (host) => {
      const { port, connections } = await listenTls((_req, res) => void res.end(secret));
      const outbound = new GuardedHttpClient(publicAddresses, { ca: localhostCertificate.cert });
      await expect(outbound.call(`https://${host}:${port}/`, get)).rejects.toThrow('is not allowed');
      expect(connections()).toBe(0);
    },
  );

  test('are not opened for a name that resolves to a public address first and to a private one later', async () => {
    const { port, connections } = await listenTls((_req, res) => void res.end(secret));
    // Each connection uses the result of a single lookup.
    const resolve = dns(['127.0.0.1'], ['8.8.8.8']);
    const outbound = new GuardedHttpClient(publicAddresses, { resolve, ca: localhostCertificate.cert });
    await expect(outbound.call(`https://localhost:${port}/`, get)).rejects.toThrow('is not allowed');
    expect([resolve.lookups, connections()]).toEqual([['localhost'], 0]);
  });

  test('are not opened when the third lookup of a name returns one', async () => {
    const { port } = await listenTls((_req, res) => void res.end('first'));
    const resolve = dns(['127.0.0.1'], ['127.0.0.1'], ['10.0.0.1']);
    const outbound = new GuardedHttpClient(loopbackAddresses, { resolve, ca: localhostCertificate.cert });
    const url = `https://localhost:${port}/`;
    expect(await outbound.call(url, get)).toEqual({ status: 200, text: 'first' });
    expect(await outbound.call(url, get)).toEqual({ status: 200, text: 'first' });
    await expect(outbound.call(url, get)).rejects.toThrow('its address 10.0.0.1 is not allowed');
  });
});

describe('GuardedHttpClient, calling an allowed address,', () => {
  const local = () => new GuardedHttpClient(loopbackAddresses, { ca: localhostCertificate.cert });

  test('does not follow a redirect', async () => {
    const inner = await listenPlain((_req, res) => void res.end(secret));
    const location = `http://127.0.0.1:${inner.port}/`;
    const outer = await listenPlain((_req, res) => void res.writeHead(302, { location }).end());
    expect(await local().call(`http://127.0.0.1:${outer.port}/`, get)).toEqual({ status: 302, text: '' });
    expect(inner.connections()).toBe(0);
  });

  test('does not read a body over 8 KiB, with any content length', async () => {
    for (const headers of [{ 'content-length': '8193' }, {}, { 'content-encoding': 'gzip' }]) {
      const { port } = await listenPlain((_req, res) => void res.writeHead(200, headers).end('x'.repeat(8_193)));
      await expect(local().call(`http://127.0.0.1:${port}/`, get)).rejects.toThrow(
        'the response has more than 8192 bytes',
      );
    }
    const { port } = await listenPlain((_req, res) => void res.end('x'.repeat(8_192)));
    expect((await local().call(`http://127.0.0.1:${port}/`, get)).text).toHaveLength(8_192);
  });

  test('times out after 3 seconds although bytes arrive', async () => {
    const drips: NodeJS.Timeout[] = [];
    const { port } = await listenPlain((_req, res) => {
      res.writeHead(200);
      drips.push(setInterval(() => res.write('x'), 100).unref());
    });
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const passed = jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms === 3_000 ? 300 : ms));
    await expect(local().call(`http://127.0.0.1:${port}/`, get)).rejects.toThrow('timeout after 3 seconds');
    passed.mockRestore();
    for (const drip of drips) clearInterval(drip);
  });

  test('refuses a self-signed certificate', async () => {
    const { port } = await listenTls((_req, res) => void res.end(secret));
    await expect(new GuardedHttpClient(loopbackAddresses).call(`https://localhost:${port}/`, get)).rejects.toThrow(
      /certificate/,
    );
  });

  test('refuses a certificate for another name', async () => {
    const { port } = await listenTls((_req, res) => void res.end(secret));
    const outbound = new GuardedHttpClient(loopbackAddresses, {
      resolve: dns(['127.0.0.1']),
      ca: localhostCertificate.cert,
    });
    await expect(outbound.call(`https://example.com:${port}/`, get)).rejects.toThrow(/example\.com/);
  });
});
