import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exampleSite, freePort, Nginx } from '../support/network/nginx.js';

// What nginx, as docs/examples/nginx sets it up, does with a request whose process is gone or fails.

const servers: Server[] = [];
const running: Nginx[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
  for (const nginx of running.splice(0)) await nginx.end();
});

/** Host and port of a process that does so with what it is asked. */
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

/** What comes of each of some requests, of which every other one comes to a process that fails as it is said. */
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
    'sends what a process had begun when it died to another one: POST %s',
    async (path) => {
      expect(await ask(await dies(), 'POST', path)).toEqual([taken, taken, taken, taken]);
    },
  );

  test('does so for GET by itself, and not for what a site has of its own', async () => {
    expect(await ask(await dies(), 'GET', '/status/abc')).toEqual(Array.from({ length: 4 }, () => '200 taken key'));
    const orders = await ask(await dies(), 'POST', '/orders');
    expect(orders.filter((answer) => answer.startsWith('502'))).toHaveLength(1);
    expect(orders.filter((answer) => answer === taken)).toHaveLength(3);
  });

  test('sends anything to another one where the process is not there at all', async () => {
    const gone = `127.0.0.1:${await freePort()}`;
    expect(await ask(gone, 'POST', '/orders')).toEqual([taken, taken, taken, taken]);
  });

  test('hands a 503 on, and takes no process that says so for gone', async () => {
    const busy = await process(async (req, res) => {
      await bodyOf(req);
      res.writeHead(503).end('later');
    });
    expect((await ask(busy, 'POST', '/intent')).sort()).toEqual([taken, taken, '503 later', '503 later']);
  });
});
