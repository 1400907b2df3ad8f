import { fileURLToPath } from 'node:url';
import grpc from '@grpc/grpc-js';
import protoLoader from '@grpc/proto-loader';
import bs58 from 'bs58';
import { createIntentClient, generateKeyPair, type IntentClient } from '../../../src/index.js';
import { getStatus } from '../../../src/sequencer/calls.js';
import { createGrpcTransport } from '../../../src/sequencer/grpc/grpc-transport.js';
import type { FaultKind } from '../../../src/simulator/faults/fault-kinds.js';
import { type Simulator, startSimulator } from '../../../src/testing.js';

// An independent client, made from the .proto file with the tools of gRPC.

const protoFile = fileURLToPath(new URL('../../../proto/intents.proto', import.meta.url));
const definition = protoLoader.loadSync(protoFile, { keepCase: true });
const { v1 } = grpc.loadPackageDefinition(definition).intents as { v1: Record<string, grpc.ServiceClientConstructor> };

const payment = { destination: generateKeyPair().publicKey, amount: '1.00', currency: 'usd' };

let simulator: Simulator;
let client: IntentClient;
const stubs: grpc.Client[] = [];

beforeAll(async () => {
  simulator = await startSimulator({ grpcPort: 0 });
  client = createIntentClient({ url: simulator.url });
});
afterAll(async () => {
  for (const stub of stubs) stub.close();
  await client.close();
  await simulator.close();
});

type Stub = grpc.Client & Record<string, (...args: unknown[]) => grpc.ClientReadableStream<Record<string, unknown>>>;

function stubOf(service: string, { grpcUrl } = simulator): Stub {
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
  await simulator.wallet().scan(clientSecret);
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

it.each<[FaultKind, string]>([
  ['cut', 'sequencer_unreachable'],
  ['flood', 'sequencer_bad_response'],
])('injects faults over gRPC: %s', async (kind, code) => {
  const { grpcUrl } = simulator;
  const transport = createGrpcTransport({ url: String(grpcUrl), timeoutMs: 30_000 });
  const clearFault = simulator.injectFault({ kind });
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
