import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { jest } from '@jest/globals';
import type { IntentRouter } from 'express-intents';
import { shutDownOnSignal } from '../../example-app/dist/shutdown.js';
import { Visitor } from '../../example-app/dist/visitor.js';
import { eventually } from '../support/eventually.js';
import { begin, order } from './shop-fixture.js';
import { ownPlace, run, startShop } from './shop-process.js';

const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** What is sent over a connection of its own, as it comes back. */
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

const goOn = 'HTTP/1.1 100 Continue\r\n\r\n';

/** A customer on a slow line: the shop has the request, and the last byte of its body is still to come. */
async function slowCustomer(port: string): Promise<{ socket: Socket; answer: () => string }> {
  const { socket, answer } = await send(
    port,
    `POST /intent HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: http://127.0.0.1:${port}\r\nExpect: 100-continue\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`,
  );
  await eventually('the shop has the request', () => answer().startsWith(goOn));
  return { socket, answer: () => answer().slice(goOn.length) };
}

const listen = (port: string, id: string) =>
  send(port, `GET /intent/${id}/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\n\r\n`);

test('ends what it has begun and begins nothing new, and the next start finds everything free', async () => {
  const place = await ownPlace();
  const shop = await startShop(place);
  const visitor = new Visitor(`http://127.0.0.1:${place.PORT}`);
  const { id } = await begin(visitor, order('pot-of-assam'));
  const page = await listen(place.PORT, id);
  await eventually(() => expect(page.answer()).toContain('event: status'));
  const slow = await slowCustomer(place.PORT);
  expect(await visitor.get('/healthz')).toMatchObject({ status: 200 });

  shop.signal('SIGTERM');
  // The last chunk: the stream is over, whatever becomes of its connection.
  await eventually(() => expect(page.answer()).toMatch(/\r\n0\r\n\r\n$/));
  // The load balancer still gets an answer, and pages that come are told to go elsewhere.
  const health = await visitor.get('/healthz');
  expect(health.status).toBe(503);
  expect(health.json).toMatchObject({ checks: { process: { status: 'down', reason: 'closing' } } });
  const late = await listen(place.PORT, id);
  await eventually(() => expect(late.answer()).toMatch(/^HTTP\/1\.1 (?:200|503) /));
  expect(late.answer()).not.toContain('event: status');

  // Whoever was there before is served.
  expect(slow.answer()).toBe('');
  slow.socket.write(body.slice(-1));
  await eventually(() => expect(slow.answer()).toMatch(/^HTTP\/1\.1 201 [\s\S]*client_secret/));
  expect([await shop.end(), shop.errors]).toEqual([0, '']);

  const next = await startShop(place);
  expect((await visitor.get('/healthz')).status).toBe(200);
  expect(next.errors).toBe('');
});

test('a second Ctrl-C ends it at once', async () => {
  const place = await ownPlace();
  const shop = await startShop(place);
  const slow = await slowCustomer(place.PORT);
  const visitor = new Visitor(`http://127.0.0.1:${place.PORT}`);
  // Without a pause: on a busy machine a pause of this process could grow into a second Ctrl-C.
  shop.signal('SIGINT');
  shop.signal('SIGINT');
  await eventually(async () => expect((await visitor.get('/healthz')).status).toBe(503));
  // Later than the copy of a signal that npm sends.
  await wait(600);
  // A process manager may repeat its signal.
  shop.signal('SIGTERM');
  shop.signal('SIGINT');
  expect(await shop.end()).toBe(130);
  expect(slow.answer()).toBe('');

  await startShop(place);
});

test('a signal within half a second of the first is the copy that npm sends, a later one is a second Ctrl-C', () => {
  const handlers = new Map<string, () => void>();
  jest.spyOn(process, 'on').mockImplementation((name, handler) => {
    handlers.set(String(name), handler as () => void);
    return process;
  });
  const exit = jest.spyOn(process, 'exit').mockImplementation((() => undefined) as never);
  jest.useFakeTimers({ doNotFake: ['performance'] });
  const now = jest.spyOn(performance, 'now').mockReturnValue(1_000);
  try {
    const closes = jest.fn(() => new Promise<void>(() => undefined));
    const shutdown = shutDownOnSignal(createServer(), { close: closes } as unknown as IntentRouter);
    const press = (): void => handlers.get('SIGINT')?.();
    press();
    now.mockReturnValue(1_500);
    press();
    expect([shutdown.aborted, closes.mock.calls.length, exit.mock.calls]).toEqual([true, 1, []]);
    now.mockReturnValue(1_501);
    press();
    expect(exit.mock.calls).toEqual([[130]]);
  } finally {
    jest.useRealTimers();
  }
});

test('can be ended while it is still opening, without a word of complaint', async () => {
  const place = await ownPlace();
  const shop = run('server.js', place);
  await eventually(async () => expect(await isTaken(place.PORT)).toBe(true));
  shop.signal('SIGINT');
  expect(await shop.end()).toBe(0);
  // On a busy machine the opening may take longer than the shop waits for its end.
  expect(shop.errors.replace(/^Shutdown timed out\..*\n/, '')).toBe('');
  expect(shop.output).not.toContain('is open');
});

/** Whether somebody listens there. */
async function isTaken(port: string): Promise<boolean> {
  const socket = connect(Number(port), '127.0.0.1');
  sockets.push(socket);
  return once(socket, 'connect').then(
    () => true,
    () => false,
  );
}
