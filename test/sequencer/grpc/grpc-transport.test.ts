import type { ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, connect as connectTcp, createServer } from 'node:net';
import { jest } from '@jest/globals';
import { SequencerError } from '../../../src/errors.js';
import { createGrpcTransport } from '../../../src/sequencer/grpc/grpc-transport.js';
import type { Transport } from '../../../src/sequencer/transport.js';
import { operations } from '../../../src/wire/envelope.js';
import { eventually } from '../../support/eventually.js';
import {
  type GrpcFaultServer,
  grpcHeaders,
  grpcMessage,
  grpcOk,
  grpcStatus,
  respond,
  startGrpcFaultServer,
} from '../../support/sequencers/grpc-fault-server.js';

/** A timeout that no test reaches. */
const ample = 60_000;
const body = Uint8Array.of(1, 2, 3);
const answer = Uint8Array.of(4, 5, 6);

let server: GrpcFaultServer;
const transports: Transport[] = [];

type Options = Partial<Parameters<typeof createGrpcTransport>[0]>;

function connect(options: Options = {}): Transport {
  const transport = createGrpcTransport({ url: server.url, timeoutMs: ample, ...options });
  transports.push(transport);
  return transport;
}

beforeEach(async () => {
  server = await startGrpcFaultServer(grpcOk(answer));
});
afterEach(async () => {
  jest.useRealTimers();
  await Promise.all(transports.splice(0).map((transport) => transport.close()));
  await server.close();
});

describe('a gRPC request', () => {
  it('is the unchanged message at the path of its operation (interface 4.2, protocol 5)', async () => {
    expect(await connect().call(operations.getStatus, body)).toEqual(answer);
    expect(server.calls).toMatchObject([{ path: '/intents.v1.MicroPayment/GetStatus', body }]);
  });

  it('goes to the configured names', async () => {
    const grpcNames = {
      MicroPayment: 'acme.micropayment.v1.MicroPayment',
      Messaging: 'acme.messaging.v1.Messaging',
      'Messaging.ackMessages': '/acme.messaging.v2.Messaging/Ack',
    };
    const transport = connect({ grpcNames });
    for (const name of ['getStatus', 'sendMessage', 'ackMessages', 'createIntent'] as const) {
      await transport.call(operations[name], body);
    }
    await connect({ grpcNames: 'acme.pay.v2' }).call(operations.getStatus, body);
    expect(server.calls.map(({ path }) => path)).toEqual([
      '/acme.micropayment.v1.MicroPayment/GetStatus',
      '/acme.messaging.v1.Messaging/SendMessage',
      '/acme.messaging.v2.Messaging/Ack',
      '/intents.v1.Intents/CreateIntent',
      '/acme.pay.v2.MicroPayment/GetStatus',
    ]);
  });

  it.each<[string, Options]>([
    ['an invalid package', { grpcNames: 'intents/v1' }],
    ['an unknown service', { grpcNames: { Payments: 'a.Payments' } as object }],
    ['a path where a service belongs', { grpcNames: { MicroPayment: '/a.B/C' } }],
    ['a path with a query', { grpcNames: { 'MicroPayment.getStatus': '/a.B/C?d' } }],
  ])('is rejected at construction with %s', (_name, options) => {
    expect(() => connect(options)).toThrow(expect.objectContaining({ code: 'invalid_configuration' }));
  });

  it('ignores the proxy in the environment', async () => {
    const proxied: string[] = [];
    const proxy = createServer((socket) => {
      proxied.push('a connection');
      socket.destroy();
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as { port: number };
    const names = ['grpc_proxy', 'https_proxy', 'http_proxy'];
    for (const name of names) process.env[name] = `http://127.0.0.1:${port}`;
    try {
      expect(await connect().call(operations.getStatus, body)).toEqual(answer);
    } finally {
      for (const name of names) delete process.env[name];
      proxy.close();
    }
    expect(proxied).toEqual([]);
  });
});

describe('gRPC connections', () => {
  it.each([
    ['serves the next call, if it has been opening for less than the timeout', 0, 1],
    ['is replaced, if it has been opening for the timeout', ample, 2],
  ])('a connection that is still opening when its call ends %s', async (_name, passedMs, connections) => {
    const held: (() => void)[] = [];
    let accepted = 0;
    const { hostname, port } = new URL(server.url);
    const relay = createServer((client) => {
      accepted += 1;
      const forward = (): void => {
        const upstream = connectTcp(Number(port), hostname);
        client.pipe(upstream).pipe(client);
        upstream.on('error', () => client.destroy());
      };
      client.on('error', () => undefined);
      held.push(forward);
      if (accepted > 1) forward();
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`;
    const transport = connect({ url, timeoutMs: ample });
    const controller = new AbortController();
    const first = transport.call(operations.getStatus, body, { signal: controller.signal });
    await eventually('the relay has a connection', () => accepted === 1);
    const now = performance.now.bind(performance);
    jest.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
    controller.abort(new SequencerError('sequencer_timeout', 'too late'));
    await expect(first).rejects.toMatchObject({ code: 'sequencer_timeout' });
    const second = transport.call(operations.getStatus, body);
    if (connections === 1) held[0]?.();
    expect(await second).toEqual(answer);
    expect(accepted).toBe(connections);
    await transport.close();
    relay.close();
  });

  it('are replaced when the sequencer closed the idle one', async () => {
    const transport = connect();
    await transport.call(operations.getStatus, body);
    server.behave({
      answer: ({ stream, socket }) => {
        respond(stream, [grpcMessage(answer)]);
        stream.on('close', () => socket.end());
      },
    });
    await transport.call(operations.getStatus, body);
    await eventually(() => server.openConnections === 0);
    expect(await transport.call(operations.getStatus, body)).toEqual(answer);
    expect(server.connections).toBe(2);
  });

  it('on which a call timed out are not used again, and a stream over them continues', async () => {
    const streams: ServerHttp2Stream[] = [];
    const transport = connect({ timeoutMs: 100 });
    const answered = async () => expect(await transport.call(operations.getStatus, body)).toEqual(answer);
    // The connection is opened before, so the short timeout applies only to the unanswered call.
    await eventually(answered);
    const before = server.connections;
    server.behave({ answer: ({ stream }) => void streams.push(stream) });
    const stream = transport.openStream?.(operations.openMessageStream, body)[Symbol.asyncIterator]();
    const first = stream?.next();
    await eventually(() => streams.length === 1);
    await expect(transport.call(operations.getStatus, body)).rejects.toMatchObject({ code: 'sequencer_timeout' });
    server.behave(grpcOk(answer));
    await eventually(answered);
    expect(server.connections).toBeGreaterThan(before);
    if (streams[0]) respond(streams[0], [grpcMessage(answer)]);
    expect(await first).toEqual({ done: false, value: answer });
    expect(await stream?.next()).toMatchObject({ done: true });
  });

  it('that the sequencer drains are replaced, and a stream over them is served to its end', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'clearImmediate', 'queueMicrotask'] });
    const streams: ServerHttp2Stream[] = [];
    server.behave({
      answer: ({ stream }) => {
        streams.push(stream);
        stream.session?.goaway(0, stream.id);
      },
    });
    const transport = connect({ timeoutMs: 1_000 });
    const stream = transport.openStream?.(operations.openMessageStream, body)[Symbol.asyncIterator]();
    const first = stream?.next();
    await eventually(() => streams.length === 1);
    // Longer than a stream may take to connect.
    await jest.advanceTimersByTimeAsync(3_000);
    if (streams[0]) respond(streams[0], [grpcMessage(answer)]);
    expect(await first).toEqual({ done: false, value: answer });
    await stream?.return?.();
  });
});

it.each([
  [8, 'sequencer_bad_status', 'RESOURCE_EXHAUSTED'],
  [13, 'sequencer_bad_status', 'INTERNAL'],
  [14, 'sequencer_unreachable', 'UNAVAILABLE'],
])('the error of gRPC status %i has its quoted, truncated text as `cause`', async (status, code, name) => {
  server.behave(grpcStatus(status, `the reason\nerror forged ${'x'.repeat(1_000)}`));
  const call = connect().call(operations.getStatus, body);
  const message = expect.stringMatching(new RegExp(`^${name}: "the reason\\\\nerror forged x{376}"$`));
  await expect(call).rejects.toMatchObject({ code, cause: { message } });
});

describe("the caller's signal", () => {
  it.each(['before the headers', 'in the body'])('ends a running call with its reason: %s', async (when) => {
    const reason = new Error('the visitor left');
    const controller = new AbortController();
    let closed = false;
    server.behave({
      answer: ({ stream }) => {
        stream.on('close', () => {
          closed = true;
        });
        if (when === 'in the body') stream.respond(grpcHeaders);
        setImmediate(() => controller.abort(reason));
      },
    });
    const call = connect().call(operations.getStatus, body, { signal: controller.signal });
    await expect(call).rejects.toBe(reason);
    await eventually(() => closed);
  });
});

describe('a gRPC stream', () => {
  it('is canceled upstream when its reader leaves', async () => {
    let rstCode: number | undefined;
    server.behave({
      answer: ({ stream }) => {
        stream.respond(grpcHeaders);
        stream.write(grpcMessage(answer));
        stream.on('close', () => {
          rstCode = stream.rstCode;
        });
      },
    });
    for await (const value of connect().openStream?.(operations.openMessageStream, body) ?? []) {
      expect(value).toEqual(answer);
      break;
    }
    await eventually(() => rstCode !== undefined);
    expect(rstCode).toBe(8);
  });

  it('whose reader pauses slows the sequencer down and keeps memory bounded', async () => {
    const message = grpcMessage(new Uint8Array(60_000));
    let accepted = 0;
    server.behave({
      answer: ({ stream }) => {
        stream.respond(grpcHeaders);
        const pour = (): void => {
          if (stream.destroyed || accepted > 500) return;
          stream.write(message, () => {
            accepted += 1;
            pour();
          });
        };
        pour();
      },
    });
    const transport = connect();
    const stream = transport.openStream?.(operations.openMessageStream, body)[Symbol.asyncIterator]();
    await stream?.next();
    let before = -1;
    while (before !== accepted) {
      before = accepted;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    // The capacity of the HTTP/2 windows and of both kernels. Without backpressure all 500 are accepted.
    expect(accepted).toBeLessThan(400);
    // It blocks no other call.
    server.behave(grpcOk(answer));
    expect(await transport.call(operations.getStatus, body)).toEqual(answer);
    await stream?.return?.();
  });
});

describe('close()', () => {
  it('waits for running calls, then closes all connections', async () => {
    const transport = connect();
    const waiting: (() => void)[] = [];
    server.behave({ answer: ({ stream }) => void waiting.push(() => respond(stream, [grpcMessage(answer)])) });
    const calls = [transport.call(operations.getStatus, body), transport.call(operations.getStatus, body)];
    let ended = 0;
    for (const call of calls) void call.then(() => ++ended);
    await eventually(() => waiting.length === 2);
    const closed = transport.close();
    for (const release of waiting) release();
    await closed;
    expect(ended).toBe(2);
    expect(await Promise.all(calls)).toEqual([answer, answer]);
    await eventually(() => server.openConnections === 0);
  });
});
