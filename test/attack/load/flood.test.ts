import { randomBytes } from 'node:crypto';
import { createServer, type Server, type ServerOptions } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Request } from 'express';
import request from 'supertest';
import { readBytes } from '../../../src/http/request/read-body.js';
import { eventually } from '../../support/eventually.js';
import { intentId, startEventSite } from '../../support/sites/event-site.js';
import { RawStream } from '../../support/sites/raw-stream.js';
import { generateJwtKey } from '../../support/sites/service-jwt.js';
import { type Site, startSite } from '../../support/sites/site.js';
import { recordingTransport } from '../../support/transports/recording-transport.js';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Short forms of the server timeouts in SECURITY.md. A test sets them after its customers are served, which may be slow. */
const shortTimeouts: ServerOptions = { headersTimeout: 1_000, requestTimeout: 1_500 };
const noTimeouts: ServerOptions = {
  headersTimeout: 0,
  requestTimeout: 0,
  keepAliveTimeout: 0,
  connectionsCheckingInterval: 100,
};

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

interface Target extends Site {
  readonly server: Server;
  /** The calls that reached the service. */
  readonly calls: readonly { readonly method: string }[];
}

/** A site with every route. Its server has no timeouts yet. */
async function startTarget(): Promise<Target> {
  const transport = recordingTransport();
  const { publicKey: webhookPublicKey } = generateJwtKey();
  const payment = () => ({ amount: 5, currency: 'usd' });
  const site = await startSite(
    { sequencer: { transport }, payment },
    { webhook: { publicKeys: [webhookPublicKey] }, origin: 'https://shop.example' },
    { before: (app) => app.set('trust proxy', 1) },
  );
  const server = createServer(noTimeouts, site.app);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { ...site, origin, server, calls: transport.calls };
}

/** A connection of an attacker and its received text. */
interface Attack {
  readonly socket: Socket;
  text: string;
}

function attack(origin: string, ...lines: string[]): Promise<Attack> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(origin);
    const one: Attack = { socket: connect(Number(port), hostname), text: '' };
    sockets.push(one.socket);
    one.socket.setEncoding('latin1').on('data', (chunk) => {
      one.text += chunk;
    });
    one.socket.on('error', () => undefined);
    one.socket.on('connect', () => {
      one.socket.write(lines.join('\r\n'));
      resolve(one);
    });
  });
}

const isClosed = ({ socket }: Attack): boolean => socket.destroyed;

/** A payment of a customer at another address. The timeout is ten times as long as customers wait. */
async function buy({ origin }: Target): Promise<void> {
  const headers = { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-For': '203.0.113.7' };
  await request(origin).post('/intent').set(headers).timeout(50_000).send({ order: 1 }).expect(201);
}

const jsonHead = ['Host: shop', 'Sec-Fetch-Site: same-origin', 'Content-Type: application/json'];
const jwtHead = ['Host: shop', 'Content-Type: application/jwt'];

const bodyRoutes: [route: string, head: readonly string[]][] = [
  ['POST /intent', jsonHead],
  ['POST /session', jsonHead],
  ['POST /intent/webhook', jwtHead],
];
const otherRoutes: [route: string, head: readonly string[]][] = [
  ['DELETE /session', jsonHead],
  ['GET /session', jsonHead],
  [`GET /status/${intentId}`, jsonHead],
  ['GET /.well-known/service-payments.json', jsonHead],
  ['PUT /intent', jsonHead],
];

describe('large and endless bodies', () => {
  const over = 'x'.repeat(9 * 1024);

  test.each(bodyRoutes)('are rejected by %s, with and without a length', async (route, head) => {
    const target = await startTarget();
    const chunk = `${over.length.toString(16)}\r\n${over}\r\n0\r\n\r\n`;
    const withLength = await attack(
      target.origin,
      `${route} HTTP/1.1`,
      ...head,
      `Content-Length: ${over.length}`,
      '',
      over,
    );
    const chunked = await attack(target.origin, `${route} HTTP/1.1`, ...head, 'Transfer-Encoding: chunked', '', chunk);
    const tooLong = await attack(target.origin, `${route} HTTP/1.1`, ...head, 'Content-Length: 99999999999', '', '{');
    for (const each of [withLength, chunked, tooLong]) {
      await eventually('the request is answered', () => /"code":"\w+"/.test(each.text));
      expect(each.text).toMatch(/^HTTP\/1\.1 413 [\s\S]*"code":"body_too_large"/);
      await eventually('the connection is closed', () => isClosed(each));
    }
    expect(target.calls).toEqual([]);
  });

  const megabyte = Buffer.alloc(1024 * 1024, 0x20);
  const chunk = Buffer.concat([Buffer.from(`${megabyte.length.toString(16)}\r\n`), megabyte, Buffer.from('\r\n')]);

  /** Sends as fast as the server reads, until the connection is closed or all is sent. */
  function sendEndlessly(one: Attack, maxMegabytes: number): void {
    const { socket } = one;
    let megabytes = 0;
    const more = (): void => {
      while (!socket.destroyed && megabytes < maxMegabytes) {
        megabytes += 1;
        if (!socket.write(chunk)) return;
      }
      if (socket.destroyed) return;
      one.text = 'The server accepted everything.';
      socket.destroy();
    };
    socket.on('drain', more);
    more();
  }

  /** Sends bodies to these routes concurrently until all connections are closed. Returns the responses. */
  async function sendToAll(
    target: Target,
    routes: typeof bodyRoutes,
    maxMegabytes: number,
    timeouts: ServerOptions = {},
  ): Promise<string[]> {
    const endless: Attack[] = [];
    for (const [route, head] of routes) {
      endless.push(await attack(target.origin, `${route} HTTP/1.1`, ...head, 'Transfer-Encoding: chunked', '', ''));
    }
    for (const each of endless) sendEndlessly(each, maxMegabytes);
    await buy(target);
    await eventually('each has an answer or is closed', () =>
      endless.every((each) => each.text !== '' || isClosed(each)),
    );
    Object.assign(target.server, timeouts);
    await eventually('all connections are closed', () => endless.every(isClosed));
    return endless.map(({ text }) => text);
  }

  test.each(bodyRoutes)('are rejected by %s, and the connection is closed at once', async (...route) => {
    // Without the timeouts of Node's server.
    const target = await startTarget();
    expect(await sendToAll(target, [route], 256)).toEqual([expect.stringMatching(/^HTTP\/1\.1 413 /)]);
    expect(target.log.lines).toEqual([]);
  });

  test('are not kept in memory above the limit', async () => {
    const req = new Readable({ read: () => undefined });
    const reading = readBytes(req as Request, 4_096, 'invalid_request');
    const rejection = expect(reading).rejects.toMatchObject({ code: 'body_too_large' });
    const chunks: WeakRef<Buffer>[] = [];
    for (let n = 0; n < 100; n += 1) {
      const chunk = Buffer.alloc(4_096);
      chunks.push(new WeakRef(chunk));
      req.push(chunk);
      await new Promise(setImmediate);
    }
    // Without a limit the body would be read to its end.
    req.push(null);
    await rejection;
    collectGarbage();
    // The first is within the limit, and the last may still be in use.
    expect(chunks.filter((chunk) => chunk.deref()).length).toBeLessThan(10);
    req.destroy();
  });

  test('are ended by the timeout of the server on routes that read no body', async () => {
    const target = await startTarget();
    const texts = await sendToAll(target, otherRoutes, Number.POSITIVE_INFINITY, shortTimeouts);
    for (const text of texts) expect(text).toMatch(/^HTTP\/1\.1 (?:200|204|404|405) /);
    expect(target.log.lines).toEqual([]);
  });
});

describe('500 slow-loris connections', () => {
  test('are closed in time, and other visitors are served meanwhile', async () => {
    const target = await startTarget();
    const head = [...jsonHead, 'Content-Length: 4096'];
    const slow: Attack[] = [];
    for (let n = 0; n < 100; n += 1) {
      slow.push(
        await attack(target.origin, 'POST /intent HTTP/1.1', 'Host: shop'),
        await attack(target.origin, 'POST /intent HTTP/1.1', ...head, '', '{'),
        await attack(target.origin, 'POST /session HTTP/1.1', ...head, '', '{"id":"'),
        await attack(target.origin, 'POST /intent/webhook HTTP/1.1', ...jwtHead, 'Content-Length: 4096', '', 'e'),
        await attack(target.origin, 'DELETE /session HTTP/1.1', ...head, '', 'x'),
      );
    }
    expect(slow).toHaveLength(500);
    const dripping = setInterval(() => {
      for (const { socket } of slow) if (!socket.destroyed) socket.write('a');
    }, 50);
    const served = 10;
    for (let n = 0; n < served; n += 1) await buy(target);
    expect(slow.filter(isClosed)).toEqual([]);
    Object.assign(target.server, shortTimeouts);
    await eventually('all connections are closed', () => slow.every(isClosed));
    clearInterval(dripping);
    const connections = promisify(target.server.getConnections.bind(target.server));
    await eventually('no connection is left', async () => (await connections()) === 0);
    // No body was complete, so no intent was created. The router logs none of these connections.
    expect(target.calls.filter(({ method }) => method === 'createIntent')).toHaveLength(served);
    expect(target.log.lines).toEqual([]);
  });
});

describe('SSE exhaustion', () => {
  const streamsAtOnce = 300;

  test('leaves one address twenty streams, in spite of spoofed addresses, and others get theirs', async () => {
    const { origin, context, transport, log } = await startEventSite({ before: (app) => app.set('trust proxy', 1) });
    const forwardedFor = (address: string): string => `X-Forwarded-For: ${address}`;
    const open = async (headers: readonly string[], id = intentId): Promise<RawStream> => {
      const stream = new RawStream(origin, `/intent/${id}/events`, headers);
      await stream.has('\r\n\r\n');
      return stream;
    };
    const attacks: RawStream[] = [];
    for (let n = 0; n < streamsAtOnce; n += 1) {
      // Another browser, intent and spoofed address each time. The proxy appends the real address.
      const cookie = `Cookie: intent=${randomBytes(32).toString('base64url')}`;
      const id = `${intentId.slice(0, -3)}${String.fromCharCode(65 + (n % 8), 65 + (Math.trunc(n / 8) % 8))}z`;
      const spoofed = n % 2 === 0 ? `198.51.100.${n % 250}, 192.0.2.1` : '192.0.2.1';
      attacks.push(await open([cookie, forwardedFor(spoofed)], id));
    }
    const statuses = attacks.map(({ head }) => Number(head.slice(9, 12)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(streamsAtOnce - 20);
    expect(context.connectionLimiter.open).toBe(20);
    expect(transport.callCount).toBeLessThanOrEqual(20);
    expect((await open([forwardedFor('203.0.113.7')])).head).toMatch(/^http\/1.1 200 /);
    // The attack adds no log lines.
    expect(log.lines).toEqual([]);
    for (const { socket } of attacks) socket.destroy();
    await eventually('their streams are released', () => context.connectionLimiter.open === 1);
  });
});
