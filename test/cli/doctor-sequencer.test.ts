import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { systemHost } from '../../src/cli/command.js';
import type { Check, DoctorContext } from '../../src/cli/doctor/check.js';
import { checkGrpc, checkSequencer, checkStream } from '../../src/cli/doctor/sequencer.js';
import { startSimulator } from '../../src/simulator/index.js';
import { encodeErrorResponse, encodeOkResponse } from '../../src/wire/envelope.js';
import { serve } from '../support/sites/serve.js';

// What the doctor finds at a sequencer, or at something that is none. A row has the levels of its checks, and the stable part of
// each fix.

const host = { ...systemHost, checkTimeoutMs: 8_000 };

async function find(check: Check, settings: Partial<DoctorContext['settings']>, env: DoctorContext['env'] = {}) {
  const signal = AbortSignal.timeout(8_000);
  const [finding, ...others] = await check({ settings, env, host, signal } as unknown as DoctorContext);
  expect(others).toEqual([]);
  return finding;
}

/** A server that answers all requests with this response. */
const answering = (status: number, headers: Record<string, string>, body: string | Uint8Array) =>
  serve((_req, res) => {
    res.writeHead(status, headers).end(body);
  });

/** An OK envelope with all three flags true (protocol section 7). */
const allTrue = Buffer.from('1206080110011801', 'hex');

const servers: WebSocketServer[] = [];

afterAll(() => {
  for (const server of servers) server.close();
});

/** A WebSocket server that greets each client with text. */
async function chatServer(): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  servers.push(server);
  server.on('connection', (socket) => socket.send('Welcome.'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Answers each status like a service, and refuses each creation as unknown. */
function withoutCreateIntent(): Promise<string> {
  return serve((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => {
      const isCreation = Buffer.concat(chunks).includes('createIntent');
      if (req.method !== 'POST') return res.writeHead(404).end();
      const envelope = isCreation ? encodeErrorResponse('Unknown method.') : encodeOkResponse(new Uint8Array());
      return res.writeHead(200, { 'content-type': 'application/octet-stream' }).end(envelope);
    });
  });
}

type Found = readonly [level: 'error' | 'warning', fix: RegExp];
type Row = [name: string, url: () => string | Promise<string>, sequencer: Found, stream: Found];

const unreachable: Found = ['error', /INTENT_SEQUENCER_URL is correct/];
const elsewhere: Found = ['error', /address that the operator of the sequencer gave you/];
const okToAll: Found = [
  'warning',
  /^Check that INTENT_SEQUENCER_URL is the sequencer, and not a server that answers OK to/,
];
const noStream: Found = ['warning', /WebSockets/];

test.each<Row>([
  ['it is unreachable', () => 'http://127.0.0.1:1', unreachable, unreachable],
  ['a web page', () => answering(200, {}, '<!doctype html>'), elsewhere, noStream],
  [
    'a compressed response',
    () => answering(200, { 'content-encoding': 'gzip' }, 'compressed'),
    ['error', /^Turn off this compression\./],
    noStream,
  ],
  [
    'a redirect',
    () => answering(308, { location: 'https://x.example/' }, ''),
    ['error', /Set INTENT_SEQUENCER_URL to the target of the redirect/],
    noStream,
  ],
  ['a limit of requests', () => answering(429, {}, ''), ['error', /^Wait a minute\./], ['warning', /^Wait a minute\./]],
  ['a refusal', () => answering(403, {}, ''), ['error', /to allow this machine/], ['warning', /to allow this machine/]],
  ['a failure', () => answering(502, {}, ''), ['error', /^Try again later/], noStream],
  [
    'an error envelope',
    () => answering(200, {}, encodeErrorResponse('No.')),
    ['error', /whether this site may use it/],
    noStream,
  ],
  ['a WebSocket server that sends text', chatServer, elsewhere, elsewhere],
  ['no operation createIntent', withoutCreateIntent, ['warning', /sequencer: \{ dialect: 'messaging' \}/], noStream],
  ['a server that answers 200 without bytes', () => answering(200, {}, ''), okToAll, noStream],
  ['a server that answers OK to everything', () => answering(200, {}, Buffer.of(8, 0)), okToAll, noStream],
  [
    'it reports everything as paid',
    () => answering(200, {}, allTrue),
    ['error', /reports cannot be trusted\. Set INTENT_SEQUENCER_URL/],
    noStream,
  ],
])('doctor finds at the sequencer: %s', async (_name, url, ...expected) => {
  const sequencerUrl = await url();
  const found = [await find(checkSequencer, { sequencerUrl }), await find(checkStream, { sequencerUrl })];
  expect(found).toMatchObject(expected.map(([level, fix]) => ({ level, fix: expect.stringMatching(fix) })));
});

test('doctor finds an unreachable gRPC server', async () => {
  expect(await find(checkGrpc, { grpcUrl: 'http://127.0.0.1:1' })).toMatchObject({
    level: 'error',
    fix: expect.stringMatching(/INTENT_SEQUENCER_GRPC_URL is correct/),
  });
});

test('doctor finds nothing at a sequencer', async () => {
  const simulator = await startSimulator({ grpcPort: 0 });
  try {
    const settings = { sequencerUrl: simulator.url, grpcUrl: simulator.grpcUrl };
    for (const check of [checkSequencer, checkStream, checkGrpc]) {
      expect(await find(check, settings)).toMatchObject({ level: 'ok' });
    }
  } finally {
    await simulator.close();
  }
});

test.each<[name: string, check: Check, settings: Partial<DoctorContext['settings']>, env: DoctorContext['env']]>([
  ['an invalid URL', checkSequencer, {}, { INTENT_SEQUENCER_URL: 'x' }],
  ['no URL', checkStream, {}, {}],
  ['gRPC instead', checkSequencer, { grpcUrl: 'https://x.example' }, {}],
  ['gRPC instead of a stream', checkStream, { grpcUrl: 'https://x.example' }, {}],
  ['the stream of the simulator', checkStream, { sequencerUrl: 'simulator' }, {}],
  ['an invalid gRPC URL', checkGrpc, {}, { INTENT_SEQUENCER_GRPC_URL: 'x' }],
  ['no gRPC URL', checkGrpc, {}, {}],
])('doctor skips %s', async (_name, check, settings, env) => {
  expect(await find(check, settings, env)).toMatchObject({ level: 'skipped' });
});
