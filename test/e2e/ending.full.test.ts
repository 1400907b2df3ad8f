import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Visitor } from '../../example-app/dist/visitor.js';
import { eventually } from '../support/eventually.js';
import { begin, order } from './shop-fixture.js';
import { newSettings, startShop } from './shop-process.js';

const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Sends a text on a new connection and collects the response. */
async function send(port: string, text: string): Promise<{ socket: Socket; answer: () => string }> {
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  await once(socket, 'connect');
  socket.write(text);
  return { socket, answer: () => answer };
}

const body = JSON.stringify(order('sugar-cube'));

const continueResponse = 'HTTP/1.1 100 Continue\r\n\r\n';

/** A customer on a slow connection: the shop waits for the last byte of the body. */
async function slowCustomer(port: string): Promise<{ socket: Socket; answer: () => string }> {
  const { socket, answer } = await send(
    port,
    `POST /intent HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: http://127.0.0.1:${port}\r\nExpect: 100-continue\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
  );
  await eventually('the shop has the request', () => answer().startsWith(continueResponse));
  return { socket, answer: () => answer().slice(continueResponse.length) };
}

const listen = (port: string, id: string) =>
  send(port, `GET /intent/${id}/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\n\r\n`);

test('SIGTERM completes running requests and rejects new ones, and the next start succeeds', async () => {
  const settings = await newSettings();
  const shop = await startShop(settings);
  const visitor = new Visitor(`http://127.0.0.1:${settings.PORT}`);
  const { id } = await begin(visitor, order('pot-of-assam'));
  const page = await listen(settings.PORT, id);
  await eventually(() => expect(page.answer()).toContain('event: status'));
  const slow = await slowCustomer(settings.PORT);
  expect(await visitor.get('/healthz')).toMatchObject({ status: 200 });

  shop.signal('SIGTERM');
  // The last chunk ends the stream.
  await eventually(() => expect(page.answer()).toMatch(/\r\n0\r\n\r\n$/));
  // The load balancer still receives a response, and new streams end at once.
  const health = await visitor.get('/healthz');
  expect(health.status).toBe(503);
  expect(health.json).toMatchObject({ checks: { process: { status: 'down', reason: 'closing' } } });
  const late = await listen(settings.PORT, id);
  await eventually(() => expect(late.answer()).toMatch(/^HTTP\/1\.1 (?:200|503) /));
  expect(late.answer()).not.toContain('event: status');

  // A request in progress is completed.
  expect(slow.answer()).toBe('');
  slow.socket.write(body.slice(-1));
  await eventually(() => expect(slow.answer()).toMatch(/^HTTP\/1\.1 201 [\s\S]*client_secret/));
  expect([await shop.end(), shop.errors]).toEqual([0, '']);

  const next = await startShop(settings);
  expect((await visitor.get('/healthz')).status).toBe(200);
  expect(next.errors).toBe('');
});
