import {
  type CreatedIntent,
  createIntentClient,
  createSigner,
  generateKeyPair,
  type IntentClient,
  type IntentEvent,
  type Transport,
} from '../../../src/index.js';
import { createGrpcTransport } from '../../../src/sequencer/grpc/grpc-transport.js';
import { createHttpTransport } from '../../../src/sequencer/http/http-transport.js';
import { signStreamRequest } from '../../../src/sequencer/watch/message-stream.js';
import { type Simulator, startSimulator } from '../../../src/testing.js';
import { decode, v1 } from '../../../src/wire/codec.js';
import { operations } from '../../../src/wire/envelope.js';
import { type StreamRelay, startStreamRelay } from '../../support/network/stream-relay.js';
import { serve } from '../../support/sites/serve.js';

const domain = 'shop.example';
const destination = generateKeyPair().publicKey;
const verifier = createSigner(generateKeyPair().secret);
const payment = { destination, amount: '1.00', currency: 'usd' };

let simulator: Simulator;
let relay: StreamRelay;
let transport: Transport;
let client: IntentClient;

/** Every stream transport of the simulator. They behave the same. */
const transports: [string, (from: { url: string; simulator: Simulator }) => Transport][] = [
  ['over WebSocket', ({ url }) => createHttpTransport({ url, timeoutMs: 60_000 })],
  ['over gRPC', ({ simulator }) => createGrpcTransport({ url: String(simulator.grpcUrl), timeoutMs: 60_000 })],
  ['in process', ({ simulator }) => simulator.transport],
];

describe.each(transports)('the message stream %s (interface 4.5)', (transportName, connect) => {
  beforeEach(async () => {
    const origin = await serve((_req, res) => res.end(JSON.stringify({ public_keys: [verifier.publicKey] })));
    simulator = await startSimulator({ grpcPort: 0, localDomains: { [domain]: origin } });
    relay = await startStreamRelay(simulator.url);
    transport = connect({ url: relay.url, simulator });
    client = createIntentClient({ transport });
  });
  afterEach(async () => {
    await client.close();
    await relay.close();
    await simulator.close();
  });

  const open = ({ id, clientSecret }: CreatedIntent, signal?: AbortSignal): AsyncIterable<Uint8Array> => {
    const { body } = signStreamRequest(id, clientSecret);
    if (!transport.openStream) throw new Error('There are no streams.');
    return transport.openStream(operations.openMessageStream, body, { signal });
  };

  const read = async (stream: AsyncIterable<Uint8Array>): Promise<string[]> => {
    const kinds: string[] = [];
    for await (const response of stream) kinds.push(...kindsIn(response));
    return kinds;
  };

  test('replays the stored messages, the terminal one last, and ends', async () => {
    const intent = await client.paymentIntents.create(payment);
    await simulator.wallet().pay(intent.clientSecret);
    expect(await read(open(intent))).toEqual(['requestToReceiveBill', 'codeScanned', 'intentSubmitted']);
  });

  test('delivers new messages at once to every reader', async () => {
    const intent = await client.paymentIntents.create(payment);
    const readers = [open(intent), open(intent)].map((stream) => stream[Symbol.asyncIterator]());
    const next = async () => Promise.all(readers.map(async (reader) => kindsIn((await reader.next()).value)[0]));
    expect(await next()).toEqual(['requestToReceiveBill', 'requestToReceiveBill']);
    const scan = next();
    await simulator.wallet().scan(intent.clientSecret);
    expect(await scan).toEqual(['codeScanned', 'codeScanned']);
    await simulator.wallet().decline(intent.clientSecret);
    expect(await next()).toEqual(['clientRejectedPayment', 'clientRejectedPayment']);
    await simulator.wallet().pay(intent.clientSecret);
    expect(await next()).toEqual(['intentSubmitted', 'intentSubmitted']);
    for (const reader of readers) expect(await reader.next()).toEqual({ done: true, value: undefined });
  });

  test.each<[string, (body: Uint8Array) => Uint8Array]>([
    ['without its signature', (body) => body.subarray(0, 36)],
    ['with another signature', (body) => Uint8Array.from(body, (byte, at) => (at === 50 ? byte ^ 1 : byte))],
    ['with an unknown field', (body) => Buffer.concat([body, Buffer.of(0xa0, 0x06, 0x01)])],
  ])('rejects a request %s (protocol 4)', async (_name, change) => {
    const { id, clientSecret } = await client.paymentIntents.create(payment);
    const { body } = signStreamRequest(id, clientSecret);
    const stream = transport.openStream?.(operations.openMessageStream, change(body));
    await expect(read(stream as AsyncIterable<Uint8Array>)).rejects.toMatchObject({
      code: 'sequencer_error',
      serviceMessage: expect.stringMatching(/not signed|32 bytes|unknown fields|cannot be decoded/),
    });
  });

  // Over gRPC a unary call and a stream are the same until they end.
  if (transportName !== 'over gRPC') {
  }

  test('ends with the reason of an abort, before and after its opening', async () => {
    const intent = await client.paymentIntents.create(payment);
    await expect(read(open(intent, AbortSignal.abort('no')))).rejects.toBe('no');
    const abort = new AbortController();
    const reader = open(intent, abort.signal)[Symbol.asyncIterator]();
    await reader.next();
    const next = reader.next();
    abort.abort('enough');
    await expect(next).rejects.toBe('enough');
    await nothingOpen(transportName);
  });

  test.each<[string, () => Promise<void>]>([
    ['of the transport', () => transport.close()],
    ['of the sequencer', () => simulator.close()],
  ])('throws at the end %s', async (_name, end) => {
    const intent = await client.paymentIntents.create(payment);
    const reader = open(intent)[Symbol.asyncIterator]();
    await reader.next();
    const next = reader.next();
    await Promise.all([end(), expect(next).rejects.toMatchObject({ code: 'sequencer_unreachable' })]);
    if (transportName !== 'in process') {
      await expect(read(open(intent))).rejects.toMatchObject({ code: 'sequencer_unreachable' });
    }
  });

  describe('client.watch', () => {
    const watched = async (events: AsyncIterable<IntentEvent>, onEvent?: (event: IntentEvent) => Promise<unknown>) => {
      const kinds: string[] = [];
      for await (const event of events) {
        kinds.push(event.kind);
        await onEvent?.(event);
      }
      return kinds;
    };

    test('ends when the client closes, and at once after that', async () => {
      const intent = await client.paymentIntents.create(payment);
      await simulator.wallet().scan(intent.clientSecret);
      const kinds = watched(client.watch(intent), () => client.close());
      expect(await kinds).toEqual(['code_scanned']);
      expect(await watched(client.watch(intent))).toEqual([]);
    });
  });
});

function kindsIn(response: Uint8Array | undefined): string[] {
  const { messages } = decode(v1.OpenMessageStreamResponse, response ?? new Uint8Array());
  return (messages ?? []).map((message) => (message as v1.Message).kind ?? 'none');
}

const isOverWebSocket = (transportName: string): boolean => transportName.startsWith('over WebSocket');

/** Expects that no socket is left, and that there was one if expected. */
async function nothingOpen(transportName: string): Promise<void> {
  expect(relay.opened > 0).toBe(isOverWebSocket(transportName));
  await relay.idle();
}
