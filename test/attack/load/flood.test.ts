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

/**
 * The timeouts of Node's server that SECURITY.md asks for, but short. A test sets them after its customers were served: on a
 * busy machine a customer may take longer.
 */
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
  /** What reached the service. */
  readonly calls: readonly { readonly method: string }[];
}

/** A site with every route. Its server has no timeouts yet. */
async function startTarget(): Promise<Target> {
  const transport = recordingTransport();
  const { publicKey: webhookPublicKey } = generateJwtKey();
  const payment = () => ({ amount: 5, currency: 'usd' });
  const site = await startSite({
    transport,
    payment,
    ...{ webhook: true, webhookPublicKey, origin: 'https://shop.example' },
    before: (app) => app.set('trust proxy', 1),
  });
  const server = createServer(noTimeouts, site.app);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { ...site, origin, server, calls: transport.calls };
}

/** A connection of an attacker, and what came back over it. */
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

const isOver = ({ socket }: Attack): boolean => socket.destroyed;

/** A customer at another address. The bound is ten times what a customer waits. */
async function buys({ origin }: Target): Promise<void> {
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

describe('5 KiB and endless bodies', () => {
  const over = 'x'.repeat(9 * 1024);

  test.each(bodyRoutes)(
    '%s takes no body that is over its limit, whichever way its length is told',
    async (route, head) => {
      const target = await startTarget();
      const chunk = `${over.length.toString(16)}\r\n${over}\r\n0\r\n\r\n`;
      const told = await attack(
        target.origin,
        `${route} HTTP/1.1`,
        ...head,
        `Content-Length: ${over.length}`,
        '',
        over,
      );
      const chunked = await attack(
        target.origin,
        `${route} HTTP/1.1`,
        ...head,
        'Transfer-Encoding: chunked',
        '',
        chunk,
      );
      const boast = await attack(target.origin, `${route} HTTP/1.1`, ...head, 'Content-Length: 99999999999', '', '{');
      for (const each of [told, chunked, boast]) {
        await eventually('it is let go', () => isOver(each));
        expect(each.text).toMatch(/^HTTP\/1\.1 413 [\s\S]*"code":"body_too_large"/);
      }
      expect(target.calls).toEqual([]);
    },
  );

  test('5 KiB of JSON are refused by the routes that take JSON', async () => {
    const { origin, calls } = await startTarget();
    for (const path of ['/intent', '/session']) {
      const post = request(origin).post(path).set('Sec-Fetch-Site', 'same-origin');
      const answer = await post.send({ order: 'x'.repeat(5 * 1024) }).expect(413);
      expect(answer.body.code).toBe('body_too_large');
    }
    expect(calls).toEqual([]);
  });

  const megabyte = Buffer.alloc(1024 * 1024, 0x20);
  const chunk = Buffer.concat([Buffer.from(`${megabyte.length.toString(16)}\r\n`), megabyte, Buffer.from('\r\n')]);

  /** Sends as fast as the other side reads, until it is cut off, or until all of it was taken. */
  function pour(one: Attack, mostMegabytes: number): void {
    const { socket } = one;
    let megabytes = 0;
    const more = (): void => {
      while (!socket.destroyed && megabytes < mostMegabytes) {
        megabytes += 1;
        if (!socket.write(chunk)) return;
      }
      if (socket.destroyed) return;
      one.text = 'It took everything.';
      socket.destroy();
    };
    socket.on('drain', more);
    more();
  }

  /** Pours bodies into these routes at the same time, until all are cut off; gives what was answered. */
  async function pourInto(
    target: Target,
    routes: typeof bodyRoutes,
    mostMegabytes: number,
    timeouts: ServerOptions = {},
  ): Promise<string[]> {
    const endless: Attack[] = [];
    for (const [route, head] of routes) {
      endless.push(await attack(target.origin, `${route} HTTP/1.1`, ...head, 'Transfer-Encoding: chunked', '', ''));
    }
    for (const each of endless) pour(each, mostMegabytes);
    await buys(target);
    Object.assign(target.server, timeouts);
    await eventually('all are cut off', () => endless.every(isOver));
    return endless.map(({ text }) => text);
  }

  test.each(bodyRoutes)('%s: a body without end is cut off at once', async (...route) => {
    // Without the timeouts of Node's server.
    const target = await startTarget();
    expect(await pourInto(target, [route], 256)).toEqual([expect.stringMatching(/^HTTP\/1\.1 413 /)]);
    expect(target.log.lines).toEqual([]);
  });

  test('nothing of a body is kept once it is over its limit', async () => {
    const req = new Readable({ read: () => undefined });
    const reading = readBytes(req as Request, 4_096, 'invalid_request');
    const refused = expect(reading).rejects.toMatchObject({ code: 'body_too_large' });
    const chunks: WeakRef<Buffer>[] = [];
    for (let n = 0; n < 100; n += 1) {
      const chunk = Buffer.alloc(4_096);
      chunks.push(new WeakRef(chunk));
      req.push(chunk);
      await new Promise(setImmediate);
    }
    await refused;
    collectGarbage();
    // The first is within the limit, and the last may still be in use.
    expect(chunks.filter((chunk) => chunk.deref()).length).toBeLessThan(10);
    req.destroy();
  });

  test('where no body is read one without end is cut off by the server', async () => {
    const target = await startTarget();
    const texts = await pourInto(target, otherRoutes, Number.POSITIVE_INFINITY, shortTimeouts);
    for (const text of texts) expect(text).toMatch(/^HTTP\/1\.1 (?:200|204|404|405) /);
    expect(target.log.lines).toEqual([]);
  });
});

describe('500 slow-loris connections', () => {
  test('are let go in time, and meanwhile everybody else is served', async () => {
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
    for (let n = 0; n < served; n += 1) await buys(target);
    expect(slow.filter(isOver)).toEqual([]);
    Object.assign(target.server, shortTimeouts);
    await eventually('they are let go', () => slow.every(isOver));
    clearInterval(dripping);
    const connections = promisify(target.server.getConnections.bind(target.server));
    await eventually('no connection is left', async () => (await connections()) === 0);
    // Nobody's body ever came to an end, so nothing came of any; and it is not worth a line each.
    expect(target.calls.filter(({ method }) => method === 'createIntent')).toHaveLength(served);
    expect(target.log.lines).toEqual([]);
  });

  test('nor are answers that nobody takes made in heaps', async () => {
    const target = await startTarget();
    const accepted: Socket[] = [];
    let asked = 0;
    target.server.on('connection', (socket) => accepted.push(socket));
    target.server.on('request', () => {
      asked += 1;
    });
    // A pipeline of questions whose answers nobody takes.
    const greedy = await attack(target.origin, '');
    greedy.socket.pause();
    const question = 'GET /intent/v1/elements.js HTTP/1.1\r\nHost: shop\r\n\r\n'.repeat(1_000);
    for (let n = 0; n < 20; n += 1) greedy.socket.write(question);
    await eventually('the server waits for its reader', () => accepted[0]?.writableNeedDrain);
    await buys(target);
    // Of 20,000 questions it has read those of one buffer.
    expect(asked).toBeLessThan(5_000);
  });
});

describe('SSE exhaustion', () => {
  const streamsAtOnce = 300;

  test('one address takes twenty streams, whatever it says of itself, and everybody else gets theirs', async () => {
    const { origin, context, transport, log } = await startEventSite({ before: (app) => app.set('trust proxy', 1) });
    const proxied = (address: string): string => `X-Forwarded-For: ${address}`;
    const open = async (headers: readonly string[], id = intentId): Promise<RawStream> => {
      const stream = new RawStream(origin, `/intent/${id}/events`, headers);
      await stream.has('\r\n\r\n');
      return stream;
    };
    const attackers: RawStream[] = [];
    for (let n = 0; n < streamsAtOnce; n += 1) {
      // Each time another browser, another intent, another made-up address in front of the one the proxy saw.
      const cookie = `Cookie: intent=${randomBytes(32).toString('base64url')}`;
      const id = `${intentId.slice(0, -3)}${String.fromCharCode(65 + (n % 8), 65 + (Math.trunc(n / 8) % 8))}z`;
      const spoofed = n % 2 === 0 ? `198.51.100.${n % 250}, 192.0.2.1` : '192.0.2.1';
      attackers.push(await open([cookie, proxied(spoofed)], id));
    }
    const statuses = attackers.map(({ head }) => Number(head.slice(9, 12)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(streamsAtOnce - 20);
    expect(context.connectionLimiter.open).toBe(20);
    expect(transport.asked).toBeLessThanOrEqual(20);
    expect((await open([proxied('203.0.113.7')])).head).toMatch(/^http\/1.1 200 /);
    // Nobody's log is filled by it.
    expect(log.lines).toEqual([]);
    for (const { socket } of attackers) socket.destroy();
    await eventually('their connectionLimiter are free', () => context.connectionLimiter.open === 1);
  });

  test('a whole /56 of IPv6 is one address', async () => {
    const { origin } = await startEventSite({ before: (app) => app.set('trust proxy', 1) });
    const statuses: string[] = [];
    for (let n = 0; n < 30; n += 1) {
      const address = `X-Forwarded-For: 2001:db8:0:1${n.toString(16).padStart(2, '0')}:${(n * 7).toString(16)}::1`;
      const stream = new RawStream(origin, `/intent/${intentId}/events`, [address]);
      await stream.has('\r\n\r\n');
      statuses.push(stream.head.slice(9, 12));
    }
    expect(statuses.filter((status) => status === '200')).toHaveLength(20);
  });
});
