import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { jest } from '@jest/globals';
import { type ClientOptions, WebSocket } from 'ws';
import { signStreamRequest } from '../../../src/sequencer/watch/message-stream.js';
import { decode, v1 } from '../../../src/wire/codec.js';
import { encodeRequest, operations } from '../../../src/wire/envelope.js';
import { eventually } from '../../support/eventually.js';
import { PieceSocket } from '../../support/network/piece-socket.js';
import { closeAll, created, opened, payment, reason, start } from '../fixture.js';

const sockets: WebSocket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await closeAll();
});

/** A WebSocket to the sequencer, its frames and its close code. */
async function open(url: string, options: ClientOptions = {}, path = '/v1/api') {
  const socket = new WebSocket(url.replace('http', 'ws') + path, { perMessageDeflate: false, ...options });
  sockets.push(socket);
  const frames: v1.Response[] = [];
  socket.on('message', (data, isBinary) => {
    expect(isBinary).toBe(true);
    frames.push(decode(v1.Response, data as Buffer));
  });
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await once(socket, 'open');
  return { socket, frames, closed };
}

async function upgradeStatus(url: string, options: ClientOptions = {}, path = '/v1/api'): Promise<number | undefined> {
  const socket = new WebSocket(url.replace('http', 'ws') + path, options);
  sockets.push(socket);
  socket.on('error', () => {});
  return new Promise((resolve) => {
    socket.on('unexpected-response', (_req, res) => resolve(res.statusCode));
    socket.on('open', () => resolve(101));
  });
}

async function requestFor(url: string): Promise<{ envelope: Uint8Array; clientSecret: string }> {
  const { id, clientSecret } = await created(url, payment());
  return {
    clientSecret,
    envelope: encodeRequest(operations.openMessageStream, signStreamRequest(id, clientSecret).body),
  };
}

const messagesOf = (frames: v1.Response[]) =>
  frames.flatMap((frame) => decode(v1.OpenMessageStreamResponse, opened(frame)).messages ?? []);

describe('a message stream over WebSocket (protocol 5)', () => {
  test('sends each message in its own frame, and closes with 1000 after the terminal one', async () => {
    const simulator = await start();
    const { envelope, clientSecret } = await requestFor(simulator.url);
    const { socket, frames, closed } = await open(simulator.url);
    socket.send(envelope);
    await simulator.wallet().pay(clientSecret);
    expect(await closed).toBe(1000);
    expect(frames).toHaveLength(3);
    expect(messagesOf(frames).map((message) => (message as v1.Message).kind)).toEqual([
      'requestToReceiveBill',
      'codeScanned',
      'intentSubmitted',
    ]);
    for (const { id } of messagesOf(frames)) expect(id?.value).toHaveLength(16);
  });

  test.each<[string, (envelope: Uint8Array) => Uint8Array | string, RegExp]>([
    ['text', () => 'hello', /binary frame/],
    ['another operation', () => encodeRequest(operations.getStatus, new Uint8Array()), /^WebSocket serves only/],
    [
      'a wrong signature',
      (envelope) => Uint8Array.from(envelope, (byte, at) => (at === envelope.length - 1 ? byte ^ 1 : byte)),
      /not signed/,
    ],
  ])('refuses %s with an ERROR envelope, and closes', async (_name, change, expected) => {
    const { url } = await start();
    const { envelope } = await requestFor(url);
    const { socket, frames, closed } = await open(url);
    socket.send(change(envelope));
    expect(await closed).toBe(1008);
    expect(frames.map(reason)).toEqual([expect.stringMatching(expected)]);
  });

  test('accepts programs and pages of this machine only', async () => {
    const { url } = await start();
    expect(await upgradeStatus(url, { headers: { host: 'evil.example' } })).toBe(403);
    expect(await upgradeStatus(url, { origin: 'https://evil.example' })).toBe(403);
    expect(await upgradeStatus(url, { origin: 'null' })).toBe(403);
    expect(await upgradeStatus(url, { origin: 'http://localhost:3000' })).toBe(101);
    expect(await upgradeStatus(url, {}, '/v1/apis')).toBe(404);
    expect(await upgradeStatus(url, {}, '/wallet')).toBe(404);
  });
});

/** The HTTP server of a simulator, to which a test can give a connection of its own. */
async function serverAt(url: string): Promise<Server> {
  const servers: Server[] = [];
  const note = (request: unknown): void => void servers.push((request as { server: Server }).server);
  subscribe('http.server.request.start', note);
  await fetch(`${url}/healthz`);
  unsubscribe('http.server.request.start', note);
  return servers[0] as Server;
}

test.each([
  ['answers', 'a few thousand', 17, '\x82'],
  ['closes with code 1008', '65,000', 1, '\x88\x02\x03\xf0'],
])('the simulator %s after a request in %s pieces', async (_what, _count, pieceBytes, expected) => {
  // Not unref, which a connection without a network lacks.
  const { url } = await start({ unref: false });
  const socket = new PieceSocket(pieceBytes);
  (await serverAt(url)).emit('connection', socket);
  const head = [
    'GET /v1/api HTTP/1.1',
    `Host: ${new URL(url).host}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ];
  socket.receive(Buffer.from(`${head.join('\r\n')}\r\n\r\n`));
  await eventually(() => socket.sent.endsWith('\r\n\r\n'));
  const handshakeLength = socket.sent.length;
  const envelope = encodeRequest(operations.getStatus, new Uint8Array(65_000));
  // Masked with zeros.
  socket.receive(Buffer.of(0x82, 0x80 | 126, envelope.length >> 8, envelope.length & 0xff, 0, 0, 0, 0));
  socket.receive(envelope);
  await eventually(() => socket.sent.length > handshakeLength);
  expect(socket.sent.slice(handshakeLength, handshakeLength + expected.length)).toBe(expected);
  socket.destroy();
});

describe('a connection over WebSocket', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'clearImmediate', 'queueMicrotask', 'performance'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  test('is refused with 503 when 200 are open, and accepted after one ends', async () => {
    const { url } = await start();
    const streams = await Promise.all(Array.from({ length: 200 }, () => open(url)));
    expect(await upgradeStatus(url)).toBe(503);
    streams[0]?.socket.terminate();
    await streams[0]?.closed;
    await eventually('another is accepted', async () => (await upgradeStatus(url)) === 101);
  });

  test('is closed when a ping is not answered before the next, and stays open otherwise', async () => {
    const { url } = await start();
    const { envelope } = await requestFor(url);
    const [alive, dead] = [await open(url), await open(url, { autoPong: false } as ClientOptions)];
    for (const { socket } of [alive, dead]) socket.send(envelope);
    await eventually(() => alive.frames.length === 1 && dead.frames.length === 1);
    const pings = { alive: 0, dead: 0 };
    alive.socket.on('ping', () => (pings.alive += 1));
    dead.socket.on('ping', () => (pings.dead += 1));
    jest.advanceTimersByTime(30_000);
    await eventually(() => pings.alive === 1 && pings.dead === 1);
    // The answer to this ping follows the pong to the server's ping.
    alive.socket.ping();
    await once(alive.socket, 'pong');
    jest.advanceTimersByTime(30_000);
    expect(await dead.closed).toBe(1006);
    await eventually(() => pings.alive === 2);
    expect(alive.socket.readyState).toBe(WebSocket.OPEN);
  });
});
