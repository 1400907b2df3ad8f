import {
  createIntentClient,
  generateKeyPair,
  type IntentClient,
  type IntentEvent,
  SequencerError,
  type Transport,
} from '../../src/index.js';
import { createGrpcTransport } from '../../src/sequencer/grpc/grpc-transport.js';
import { createHttpTransport } from '../../src/sequencer/http/http-transport.js';
import { watchIntent } from '../../src/sequencer/watch/watch-intent.js';
import { type Simulator, startSimulator } from '../../src/testing.js';
import { encode, v1 } from '../../src/wire/codec.js';
import { operations } from '../../src/wire/envelope.js';
import { eventually } from '../support/eventually.js';
import { startStreamRelay } from '../support/network/stream-relay.js';
import { canary, unreachableUrl } from '../support/sequencers/fault-sequencer.js';
import { type Fault, faults, faultsOf } from '../support/sequencers/faults.js';
import {
  beginStream,
  type GrpcBehaviour,
  grpcMessage,
  grpcOk,
  startGrpcFaultServer,
} from '../support/sequencers/grpc-fault-server.js';
import { accepting, frame, startStreamFaultServer, type Upgrade } from '../support/sequencers/stream-fault-server.js';
import { holdTimeouts } from '../support/timeouts.js';
import { FakeClock, settled } from './watch/fake-clock.js';

// Event streams while the sequencer fails, in three steps. Each transport reports every fault of the table by its code,
// or waits, and leaves no connection. A watch survives every outcome, in every phase: in memory, with a fake clock. A few
// of these cases are repeated over WebSocket and gRPC.

/** A timeout that no test reaches. */
const ample = 60_000;
/** A timeout for faults that only a timeout ends. */
const short = 300;

const unhandled: unknown[] = [];
const noteUnhandled = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on('unhandledRejection', noteUnhandled));
afterAll(() => void process.off('unhandledRejection', noteUnhandled));
afterEach(() => expect(unhandled.splice(0)).toEqual([]));

// ---- Errors of the transports ----

const timeoutMsOf = ({ code }: Fault): number => (code === 'sequencer_timeout' ? short : ample);

/** The messages of a stream, and the error that ended it. */
interface StreamOutcome {
  readonly read: number[][];
  readonly error: unknown;
}

/** @param read gets the messages as they arrive */
async function readStream(transport: Transport, signal?: AbortSignal, read: number[][] = []): Promise<StreamOutcome> {
  try {
    const stream = transport.openStream?.(operations.openMessageStream, Uint8Array.of(1, 2, 3), { signal });
    for await (const response of stream ?? []) read.push([...response]);
    return { read, error: undefined };
  } catch (error) {
    return { read, error };
  }
}

function expectReported(error: unknown, { code, httpStatus }: Fault): void {
  expect(error).toBeInstanceOf(SequencerError);
  const { message, title, serviceMessage, ...reported } = error as SequencerError;
  expect(reported).toMatchObject({ name: 'SequencerError', code, ...(httpStatus !== undefined && { httpStatus }) });
  expect(message + title).not.toContain('canary');
  expect(serviceMessage).toBe(code === 'sequencer_error' ? canary : undefined);
}

/** When a fault occurs that does not prevent the handshake. */
const moments: Record<string, (upgrade: Upgrade) => Upgrade> = {
  'as soon as the connection is open': (upgrade) => (accept, socket, req) => upgrade(() => accept('open'), socket, req),
  'when a stream is requested': (upgrade) => upgrade,
  'after the first message': (upgrade) => (accept, socket, req) => {
    const acceptAndSend = async () => {
      const webSocket = await accept();
      await new Promise((resolve) => webSocket.send(frame(1), resolve));
      return webSocket;
    };
    upgrade(acceptAndSend, socket, req);
  },
};

describe.each(Object.keys(moments))('a stream over WebSocket, %s', (moment) => {
  test.each(faultsOf('webSocket'))('reports "%s" by its code, and leaves no connection', async (_name, fault) => {
    let isAccepted = false;
    const noting: Upgrade = (accept, socket, req) =>
      fault.webSocket(
        (when) => {
          isAccepted = true;
          return accept(when);
        },
        socket,
        req,
      );
    const server = await startStreamFaultServer(moments[moment]?.(noting) ?? noting);
    const transport = createHttpTransport({ url: server.url, timeoutMs: timeoutMsOf(fault) });
    try {
      const expire = holdTimeouts(short);
      const reading = readStream(transport);
      await eventually('the server has the request', () => server.requests.length === 1);
      expire();
      const { read, error } = await reading;
      expect(read).toEqual(isAccepted && moment === 'after the first message' ? [[1]] : []);
      expectReported(error, fault);
      expect(server.requests).toHaveLength(1);
      await server.idle();
    } finally {
      await transport.close();
      await server.close();
    }
  });
});

/** Faults that can also occur in the middle of a gRPC stream. */
const midStream = [
  ...['a connection cut before the answer', 'a connection reset', 'a connection cut in the body'],
  ...['a stream canceled', 'a stream reset for an internal error', 'a stream reset for too many calls'],
  ...['GOAWAY with an error', 'no answer', 'gRPC status UNAVAILABLE', 'gRPC status INTERNAL', 'random bytes'],
  ...['gRPC status INVALID_ARGUMENT', 'gRPC status that is not a number', 'a byte over the limit', '64 MB'],
].map((name): [string, Fault] => [name, faults[name] as Fault]);

describe.each([
  ['when it is requested', faultsOf('grpc'), (behavior: GrpcBehaviour) => behavior],
  ['after the first message', midStream, afterFirstMessage],
] as const)('a stream over gRPC, %s', (moment, rows, occurring) => {
  test.each<[string, Fault]>([...rows])(
    'reports "%s" by its code, waits or ends, and recovers',
    async (_name, fault) => {
      const server = await startGrpcFaultServer(occurring(fault.grpc ?? {}));
      const transport = createGrpcTransport({
        url: server.url,
        timeoutMs: fault.grpcStream ? ample : timeoutMsOf(fault),
      });
      const leaving = new AbortController();
      try {
        const messages: number[][] = [];
        const reading = readStream(transport, leaving.signal, messages);
        if (fault.grpcStream === 'waits') {
          const expected = moment === 'after the first message' ? 1 : 0;
          await eventually(() => server.calls.length === 1 && messages.length === expected);
          // Time for an error that must not come.
          await new Promise((resolve) => setTimeout(resolve, 50));
          leaving.abort('left');
        }
        const { read, error } = await reading;
        if (moment === 'after the first message') expect(read[0]).toEqual([1]);
        if (fault.grpcStream === 'waits') expect(error).toBe('left');
        else if (fault.grpcStream === 'ends') expect(error).toBeUndefined();
        else expectReported(error, fault);

        // The answer of a call is a stream of one message.
        server.behave(grpcOk(Uint8Array.of(7)));
        const recovered = async () => expect(await readStream(transport)).toEqual({ read: [[7]], error: undefined });
        // The short timeout applies to the connection of this stream as well.
        if (fault.code === 'sequencer_timeout' && !fault.isDeaf) await eventually(recovered);
        else if (!fault.isDeaf) await recovered();
        await transport.close();
        await eventually(() => server.openConnections === 0);
      } finally {
        leaving.abort('left');
        await transport.close();
        await server.close();
      }
    },
  );
});

function afterFirstMessage({ answer }: GrpcBehaviour): GrpcBehaviour {
  return {
    answer: (answering) => {
      beginStream(answering.stream);
      answering.stream.write(grpcMessage(Uint8Array.of(1)), () => setImmediate(() => answer?.(answering)));
    },
  };
}

test.each([
  ['WebSocket', (url: string) => createHttpTransport({ url, timeoutMs: ample })],
  ['gRPC', (url: string) => createGrpcTransport({ url, timeoutMs: ample })],
])('a stream over %s reports a refused connection without waiting for its timeout', async (_name, connect) => {
  const transport = connect(await unreachableUrl());
  const { error } = await readStream(transport);
  expectReported(error, { code: 'sequencer_unreachable', isTransient: true });
  await transport.close();
});

// ---- Reactions of a watch ----

const payment = { destination: generateKeyPair().publicKey, amount: '1.00', currency: 'usd' };

let simulator: Simulator;
/** A client of the sequencer that no fault affects. */
let witness: IntentClient;
beforeAll(async () => {
  simulator = await startSimulator({ grpcPort: 0 });
  witness = createIntentClient({ transport: simulator.transport });
});
afterAll(() => simulator.close());

type Responses = AsyncIterable<Uint8Array>;

/** The effect of a fault on a stream. */
interface StreamFault {
  /** Whether the stream ends and is reopened. */
  readonly ends: boolean;
  /** Occurs before or after the first message, and stops the stream. */
  readonly occur?: (signal: AbortSignal) => Responses;
  /** Changes the delivered messages. */
  readonly rewrite?: (responses: Responses) => Responses;
}

const silence = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
const saying = (...responses: Uint8Array[]): StreamFault => ({
  ends: false,
  occur: async function* (signal) {
    yield* responses;
    await silence(signal);
  },
});
const failing = (error: unknown): StreamFault => ({
  ends: true,
  // biome-ignore lint/correctness/useYield: it fails before its first message.
  occur: async function* () {
    throw error;
  },
});

/** All error codes of a stream, and its other misbehaviors. */
const streamFaults: Record<string, StreamFault> = {
  ...Object.fromEntries(
    [...new Set(Object.values(faults).flatMap(({ code, webSocket, grpc }) => (webSocket || grpc ? code : [])))].map(
      (code) => [code, failing(new SequencerError(code, 'An injected fault.'))],
    ),
  ),
  'an unexpected error': failing(new TypeError('An injected bug.')),
  'an end too early': { ends: true, occur: async function* () {} },
  silence: saying(),
  'garbage for a message': { ...saying(Buffer.alloc(40, 0xff)), ends: true },
  'messages of nothing': saying(...Array.from({ length: 100 }, () => new Uint8Array())),
  'a claim that all is submitted': saying(responseOf(9, { intentSubmitted: {} })),
  'a flood of messages with wrong signatures': saying(
    ...Array.from({ length: 300 }, (_, n) =>
      responseOf(n % 256, { codeScanned: {}, sendMessageRequestSignature: { value: new Uint8Array(64).fill(7) } }),
    ),
  ),
  'every message twice': {
    ends: false,
    rewrite: async function* (responses) {
      for await (const response of responses) yield* [response, response];
    },
  },
  'all messages again with each': {
    ends: false,
    rewrite: async function* (responses) {
      const all: Uint8Array[] = [];
      for await (const response of responses) {
        all.push(response);
        yield* all;
      }
    },
  },
  'messages out of order': {
    ends: false,
    rewrite: async function* (responses) {
      let held: Uint8Array | undefined;
      for await (const response of responses) {
        if (held) yield* [response, held];
        held = held ? undefined : response;
      }
      if (held) yield held;
    },
  },
};

function responseOf(idByte: number, content: v1.Message.$Properties): Uint8Array {
  const id = { value: new Uint8Array(16).fill(idByte) };
  return encode(v1.OpenMessageStreamResponse, { messages: [{ id, ...content }] });
}

const phases = ['before the first message', 'after the first message'] as const;

interface Cell {
  readonly fault: StreamFault;
  readonly phase: (typeof phases)[number];
  /** Whether the calls for the status fail as well while the fault lasts. */
  readonly isDown: boolean;
}

/** The transport of the simulator in memory, with a fault on all its streams. */
class FaultyStreams implements Transport {
  /** How often the fault occurred. */
  occurred = 0;
  open = 0;
  #cell: Cell | undefined;

  constructor(cell: Cell) {
    this.#cell = cell;
  }

  call: Transport['call'] = async (operation, body) => {
    if (this.#cell?.isDown) throw new SequencerError('sequencer_bad_status', 'It is down.', { httpStatus: 503 });
    return simulator.transport.call(operation, body);
  };

  async *openStream(...[operation, body, { signal } = {}]: Parameters<Required<Transport>['openStream']>): Responses {
    const { fault, phase } = this.#cell ?? {};
    const responses = simulator.transport.openStream(operation, body, { signal });
    const leaving = signal ?? new AbortController().signal;
    this.open += 1;
    try {
      if (fault?.rewrite || phase === 'before the first message') this.occurred += 1;
      if (fault?.rewrite) yield* fault.rewrite(responses);
      else if (!fault) yield* responses;
      else {
        if (phase === 'after the first message') {
          for await (const response of responses) {
            yield response;
            break;
          }
          this.occurred += 1;
        }
        yield* fault.occur?.(leaving) ?? [];
      }
    } finally {
      this.open -= 1;
    }
  }

  clear(): void {
    this.#cell = undefined;
  }

  async close(): Promise<void> {}
}

/** A watch and all its events. */
class Watching {
  readonly events: IntentEvent[] = [];
  isOver = false;
  error: unknown;
  readonly #leaving = new AbortController();

  constructor(transport: Transport, intent: { id: string; clientSecret: string }, clock: FakeClock) {
    const events = watchIntent(transport, { clock })(intent, { signal: this.#leaving.signal });
    void this.#read(events)
      .catch((error) => {
        this.error = error;
      })
      .finally(() => {
        this.isOver = true;
      });
  }

  get kinds(): string[] {
    return this.events.map(({ kind }) => kind);
  }

  leave(): void {
    this.#leaving.abort();
  }

  async #read(events: AsyncIterable<IntentEvent>): Promise<void> {
    for await (const event of events) this.events.push(event);
  }
}

/** Advances the clock until the condition holds, ten minutes at most. */
async function passUntil(clock: FakeClock, condition: string, holds: () => boolean): Promise<void> {
  for (let seconds = 0; seconds < 600; seconds += 1) {
    await settled();
    if (holds()) return;
    await clock.pass(1_000);
  }
  throw new Error(`Condition not met within ten minutes of the fake clock: ${condition}`);
}

async function play(cell: Cell): Promise<void> {
  const clock = new FakeClock();
  const transport = new FaultyStreams(cell);
  const intent = await witness.paymentIntents.create(payment);
  const watching = new Watching(transport, intent, clock);
  const wallet = simulator.wallet();
  try {
    await passUntil(clock, 'the fault occurs', () => transport.occurred >= 1);
    await wallet.scan(intent.clientSecret);
    await wallet.decline(intent.clientSecret);
    if (cell.fault.ends) await passUntil(clock, 'the stream is opened again', () => transport.occurred >= 2);
    await clock.pass(60_000);
    expect([watching.isOver, watching.error]).toEqual([false, undefined]);
    expect(watching.kinds).not.toContain('intent_submitted');

    await wallet.pay(intent.clientSecret);
    if (cell.isDown) {
      await clock.pass(60_000);
      // Only the response to a status call proves the payment, not a stream.
      expect([watching.isOver, watching.error]).toEqual([false, undefined]);
      expect(watching.kinds).not.toContain('intent_submitted');
      transport.clear();
    }
    await passUntil(clock, 'the watch ends', () => watching.isOver);
    expect(watching.error).toBeUndefined();
    expect(watching.kinds.at(-1)).toBe('intent_submitted');
    expect(watching.kinds).toContain('code_scanned');
    const kinds = ['code_scanned', 'client_rejected_payment', 'intent_submitted'];
    expect(watching.kinds.toSorted()).toEqual(kinds.filter((kind) => watching.kinds.includes(kind)).toSorted());
    await settled();
    expect([clock.pending, transport.open]).toEqual([0, 0]);
  } finally {
    watching.leave();
  }
}

describe.each(phases)('in memory, %s', (phase) => {
  describe.each(Object.entries(streamFaults))('%s', (_name, fault) => {
    test.each([
      ['calls succeed', false],
      ['calls fail', true],
    ])('a watch reports each event once and ends with the payment, while %s', (_while, isDown) =>
      play({ fault, phase, isDown }),
    );
  });
});

// ---- The same over the network ----

describe.each([
  ['WebSocket', ({ url }: Simulator) => url, (url: string) => ({ url })],
  ['gRPC', ({ grpcUrl }: Simulator) => String(grpcUrl), (grpcUrl: string) => ({ grpcUrl })],
] as const)('over %s', (_name, urlOf, optionsOf) => {
  let relay: Awaited<ReturnType<typeof startStreamRelay>>;
  let client: IntentClient;
  let intent: { id: string; clientSecret: string };
  beforeEach(async () => {
    relay = await startStreamRelay(urlOf(simulator));
    client = createIntentClient(optionsOf(relay.url));
    intent = await client.paymentIntents.create(payment);
  });
  afterEach(async () => {
    await client.close();
    await relay.idle();
    await relay.close();
  });

  test('a watch whose stream is cut three times loses no event and repeats none', async () => {
    const kinds: string[] = [];
    const watching = (async () => {
      for await (const { kind } of client.watch(intent)) kinds.push(kind);
    })();
    const wallet = simulator.wallet();
    await eventually(() => relay.open === 1);
    await wallet.scan(intent.clientSecret);
    await eventually(() => kinds.length === 1);
    for (let cut = 1; cut <= 3; cut += 1) {
      relay.cut();
      // While there is no stream.
      await wallet.decline(intent.clientSecret);
      await eventually(() => relay.opened > cut && kinds.length === cut + 1);
    }
    relay.cut();
    await wallet.pay(intent.clientSecret);
    await watching;
    expect(kinds).toEqual(['code_scanned', ...new Array(3).fill('client_rejected_payment'), 'intent_submitted']);
  });

  test('twenty aborted watches leave no connection', async () => {
    const abort = new AbortController();
    let running = 0;
    const watches = Array.from({ length: 20 }, async () => {
      for await (const { kind } of client.watch(intent, { signal: abort.signal })) {
        expect(kind).toBe('code_scanned');
        running += 1;
      }
    });
    await simulator.wallet().scan(intent.clientSecret);
    await eventually(() => running === 20);
    abort.abort();
    await Promise.all(watches);
  });
});

test('a stream to a server that accepts it and sends nothing ends when its reader leaves', async () => {
  const server = await startStreamFaultServer(accepting(() => undefined));
  const transport = createHttpTransport({ url: server.url, timeoutMs: ample });
  const leaving = new AbortController();
  const reading = readStream(transport, leaving.signal);
  await eventually(() => server.frames.length === 1);
  leaving.abort('left');
  expect(await reading).toEqual({ read: [], error: 'left' });
  await server.idle();
  await transport.close();
  await server.close();
});
