import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exampleSite, freePort, Nginx } from '../support/network/nginx.js';

// How nginx, configured as in docs/examples/nginx, handles a request whose process is down or fails.

const servers: Server[] = [];
const running: Nginx[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
  for (const nginx of running.splice(0)) await nginx.end();
});

/** Starts a process that handles requests this way. @returns its host and port */
async function process(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function bodyOf(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of req) text += chunk;
  return text;
}

/** The responses to four requests, every other of which reaches the failing process. */
async function ask(failing: string, method: string, path: string): Promise<string[]> {
  const sound = await process(async (req, res) => {
    const text = `${req.headers['idempotency-key'] ?? ''} ${await bodyOf(req)}`.trim();
    res.end(`taken ${text}`);
  });
  const [port, plainPort] = [await freePort(), await freePort()];
  running.push(await Nginx.start(exampleSite({ port, plainPort, processes: [failing, sound] }), port));
  const body = method === 'POST' ? 'body' : null;
  const seen: string[] = [];
  for (const key of ['key-1', 'key-2', 'key-3', 'key-4']) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      body,
      headers: { 'idempotency-key': key },
    });
    seen.push(`${answer.status} ${(await answer.text()).replace(key, 'key')}`);
  }
  return seen;
}

const taken = '200 taken key body';
const dies = (): Promise<string> =>
  process(async (req, res) => {
    await bodyOf(req);
    res.destroy();
  });

describe('nginx', () => {
  test.each(['/intent', '/session', '/intent/webhook'])(
    'sends a request to another process when the first one dies during it: POST %s',
    async (path) => {
      expect(await ask(await dies(), 'POST', path)).toEqual([taken, taken, taken, taken]);
    },
  );

  test('also retries a GET, but no POST to a route of the site', async () => {
    expect(await ask(await dies(), 'GET', '/status/abc')).toEqual(Array.from({ length: 4 }, () => '200 taken key'));
    const orders = await ask(await dies(), 'POST', '/orders');
    // nginx excludes a process after three failed requests. So every other request reaches the failing process.
    expect(orders.filter((answer) => answer.startsWith('502'))).toHaveLength(2);
    expect(orders.filter((answer) => answer === taken)).toHaveLength(2);
  });

  test('sends any request to another process when the first one does not listen', async () => {
    const gone = `127.0.0.1:${await freePort()}`;
    expect(await ask(gone, 'POST', '/orders')).toEqual([taken, taken, taken, taken]);
  });

  test('passes on a 503, and does not mark its process as down', async () => {
    const busy = await process(async (req, res) => {
      await bodyOf(req);
      res.writeHead(503).end('later');
    });
    expect((await ask(busy, 'POST', '/intent')).sort()).toEqual([taken, taken, '503 later', '503 later']);
  });
});
