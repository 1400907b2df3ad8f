import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';
import bs58 from 'bs58';
import type { FaultKind } from '../../../src/emulator/faults/fault-kinds.js';
import { startGrpcServer } from '../../../src/emulator/servers/grpc-server.js';
import { createIntentClient, generateKeyPair, type IntentClient } from '../../../src/index.js';
import { getStatus } from '../../../src/sequencer/calls.js';
import { createGrpcTransport } from '../../../src/sequencer/grpc/grpc-transport.js';
import { type Sequencer, startSequencer } from '../../../src/testing.js';
import { operations } from '../../../src/wire/envelope.js';
import { eventually } from '../../support/eventually.js';

// An independent client, made from the .proto file with the tools of gRPC.

const protoFile = fileURLToPath(new URL('../../../proto/intents.proto', import.meta.url));
const definition = protoLoader.loadSync(protoFile, { keepCase: true });
const { v1 } = grpc.loadPackageDefinition(definition).intents as { v1: Record<string, grpc.ServiceClientConstructor> };

const payment = { destination: generateKeyPair().publicKey, amount: '1.00', currency: 'usd' };

let sequencer: Sequencer;
let client: IntentClient;
const stubs: grpc.Client[] = [];

beforeAll(async () => {
  sequencer = await startSequencer({ grpcPort: 0 });
  client = createIntentClient({ url: sequencer.url });
});
afterAll(async () => {
  for (const stub of stubs) stub.close();
  await client.close();
  await sequencer.close();
});

type Stub = grpc.Client & Record<string, (...args: unknown[]) => grpc.ClientReadableStream<Record<string, unknown>>>;

function stubOf(service: string, { grpcUrl } = sequencer): Stub {
  const Stub = v1[service];
  if (!Stub || !grpcUrl) throw new Error(`There is no ${service}.`);
  const stub = new Stub(new URL(grpcUrl).host, grpc.credentials.createInsecure());
  stubs.push(stub);
  return stub as unknown as Stub;
}

function callIndependently(service: string, method: string, request: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stub = stubOf(service);
    stub[method]?.(request, (error: Error | null, answer: unknown) => (error ? reject(error) : resolve(answer)));
  });
}

it('answers an independent client (interface 4.2, 4.4)', async () => {
  const { id, clientSecret } = await client.paymentIntents.create(payment);
  await sequencer.wallet().scan(clientSecret);
  const request = { intent_id: { value: bs58.decode(id) } };
  expect(await callIndependently('MicroPayment', 'GetStatus', request)).toEqual({ exists: true, code_scanned: true });
});

it('refuses with INVALID_ARGUMENT and the reason of the proxy (interface 7.2)', async () => {
  const request = { intent_id: { value: Buffer.alloc(31) } };
  await expect(callIndependently('MicroPayment', 'GetStatus', request)).rejects.toMatchObject({
    code: grpc.status.INVALID_ARGUMENT,
    details: 'intent_id must have 32 bytes.',
  });
  await expect(callIndependently('Intents', 'CreateIntent', {})).rejects.toMatchObject({
    code: grpc.status.INVALID_ARGUMENT,
  });
});

it('refuses a stream that is not signed by its rendezvous key (protocol 4, 5)', async () => {
  const stream = stubOf('Messaging').OpenMessageStream?.({ rendezvous_key: { value: Buffer.alloc(32, 7) } });
  const read = async (): Promise<void> => {
    for await (const _message of stream ?? []) throw new Error('There should be none.');
  };
  await expect(read()).rejects.toMatchObject({ code: grpc.status.INVALID_ARGUMENT });
});

it('names a port in use, and closes everything it had opened', async () => {
  const occupied = createServer();
  await new Promise<void>((resolve) => occupied.listen(0, '127.0.0.1', resolve));
  const { port: grpcPort } = occupied.address() as { port: number };
  const port = Number(new URL(await freeUrl()).port);
  await expect(startSequencer({ port, grpcPort })).rejects.toMatchObject({
    code: 'invalid_configuration',
    message: expect.stringMatching(`port ${grpcPort} .*Set --grpc-port or the option grpcPort`),
  });
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
  occupied.close();
});

it('close ends its streams and is idempotent', async () => {
  const own = await startSequencer({ grpcPort: 0 });
  const follower = createIntentClient({ grpcUrl: own.grpcUrl });
  const intent = await follower.paymentIntents.create(payment);
  const stub = stubOf('MicroPayment', own);
  await new Promise((resolve) => stub.waitForReady(Date.now() + 30_000, resolve));
  const leaving = new AbortController();
  const watching = follower.watch(intent, { signal: leaving.signal })[Symbol.asyncIterator]();
  const next = watching.next();
  await Promise.all([own.close(), own.close()]);
  await expect(follower.paymentIntents.getStatus(intent.id)).rejects.toMatchObject({ code: 'sequencer_unreachable' });
  leaving.abort();
  expect(await next).toMatchObject({ done: true });
  await follower.close();
});

it('releases a call when the client disconnects', async () => {
  const signals: (AbortSignal | undefined)[] = [];
  const untilLeft = (signal: AbortSignal | undefined): Promise<never> => {
    signals.push(signal);
    return new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
  };
  const answering: Sequencer['transport'] = {
    call: (_operation, _body, { signal } = {}) => untilLeft(signal),
    // biome-ignore lint/correctness/useYield: it never yields a message.
    openStream: async function* (_operation, _body, { signal } = {}) {
      await untilLeft(signal);
    },
    close: async () => undefined,
  };
  const server = await startGrpcServer(answering, { port: 0, fix: 'Choose another.', unref: true });
  const transport = createGrpcTransport({ url: server.url, timeoutMs: 60_000 });
  const leaving = new AbortController();
  const { signal } = leaving;
  const call = transport.call(operations.getStatus, new Uint8Array(), { signal });
  const stream = transport.openStream?.(operations.openMessageStream, new Uint8Array(), { signal });
  const next = stream?.[Symbol.asyncIterator]().next();
  await eventually(() => signals.length === 2);
  leaving.abort('left');
  await expect(call).rejects.toBe('left');
  await expect(next).rejects.toBe('left');
  await eventually(() => signals.every((given) => given?.aborted));
  await transport.close();
  await server.close();
});

it.each<[FaultKind, string]>([
  ['cut', 'sequencer_unreachable'],
  ['flood', 'sequencer_bad_response'],
])('injects faults over gRPC: %s', async (kind, code) => {
  const { grpcUrl } = sequencer;
  const transport = createGrpcTransport({ url: String(grpcUrl), timeoutMs: 30_000 });
  const clearFault = sequencer.injectFault({ kind });
  await expect(getStatus(transport, generateKeyPair().publicKey)).rejects.toMatchObject({ code });
  clearFault();
  expect(await getStatus(transport, generateKeyPair().publicKey)).toMatchObject({ exists: false });
  await transport.close();
});

describe('our client with an independent server made from the .proto file', () => {
  it('exchanges requests and responses (interface 4.2, 4.3, 4.4)', async () => {
    const { Intents, MicroPayment } = v1;
    if (!Intents || !MicroPayment) throw new Error('The services are gone.');
    const seen: object[] = [];
    const server = new grpc.Server();
    server.addService(Intents.service, {
      CreateIntent: ({ request }: { request: object }, answer: grpc.sendUnaryData<object>) => {
        seen.push(request);
        answer(null, { result: 'OK', message_id: { value: Buffer.alloc(16, 1) } });
      },
    });
    server.addService(MicroPayment.service, {
      GetStatus: (_call: unknown, answer: grpc.sendUnaryData<object>) =>
        answer(null, { exists: true, code_scanned: true }),
    });
    const port = await new Promise((resolve) =>
      server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (_error, bound) => resolve(bound)),
    );
    const ours = createIntentClient({ grpcUrl: `http://127.0.0.1:${port}` });
    const { id } = await ours.paymentIntents.create(payment);
    expect(await ours.paymentIntents.getStatus(id)).toEqual({
      exists: true,
      codeScanned: true,
      intentSubmitted: false,
    });
    const partial = { currency: 'usd', native_amount: 1 };
    expect(seen).toMatchObject([
      {
        request_to_receive_bill: {
          requestor_account: { value: Buffer.from(bs58.decode(payment.destination)) },
          partial,
          rendezvous_key: { value: Buffer.from(bs58.decode(id)) },
        },
      },
    ]);
    await ours.close();
    server.forceShutdown();
  });
});

async function freeUrl(): Promise<string> {
  const { url, close } = await startSequencer();
  await close();
  return url;
}
