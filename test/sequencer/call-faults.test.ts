import { inspect } from 'node:util';
import { errorCodes } from '../../src/errors.js';
import {
  createIntentClient,
  createSigner,
  type IntentClient,
  SequencerError,
  type Transport,
} from '../../src/index.js';
import { encodePayload } from '../../src/intents/payload.js';
import { signPaymentIntent } from '../../src/intents/signed-intent.js';
import { formatBase58 } from '../../src/keys/base58.js';
import { createIntent, getStatus } from '../../src/sequencer/calls.js';
import { createGrpcTransport } from '../../src/sequencer/grpc/grpc-transport.js';
import { createHttpTransport } from '../../src/sequencer/http/http-transport.js';
import { answerTimeoutError, callWithTimeout } from '../../src/sequencer/transport.js';
import { type Simulator, startSimulator } from '../../src/testing.js';
import { decode, v1 } from '../../src/wire/codec.js';
import type { Operation } from '../../src/wire/envelope.js';
import { Browser } from '../support/browser/browser.js';
import { eventually } from '../support/eventually.js';
import { canary, faultSequencer, ok, plainSuccess, unreachableUrl } from '../support/sequencers/fault-sequencer.js';
import { type Fault, faults, faultsOf } from '../support/sequencers/faults.js';
import { grpcOk, startGrpcFaultServer } from '../support/sequencers/grpc-fault-server.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { serve } from '../support/sites/serve.js';
import { destination, domain, startSite, verifierSecret } from '../support/sites/site.js';
import { tappedTransport } from '../support/transports/tapped-transport.js';

// Calls while the sequencer fails, in three steps. Each transport reports every fault of the table by its code. For every
// code, client and routes make the right decision: in memory, in every phase. A few of these decisions are repeated over
// the proxy and over gRPC.

const verifier = createSigner(verifierSecret);
/** Amount and currency are the first bytes of a client secret, so all secrets of this payment share a prefix. */
const payment = { destination, amount: '1234.56', currency: 'usd' };
const secretPrefix = commonSecretPrefix({ currency: 'usd', hundredths: 123_456n });

/** A timeout that no test reaches. */
const ample = 60_000;
/** A timeout for faults that only a timeout ends. */
const short = 300;
const timeoutMsOf = ({ code }: Fault): number => (code === 'sequencer_timeout' ? short : ample);

const unhandled: unknown[] = [];
const noteUnhandled = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on('unhandledRejection', noteUnhandled));
afterAll(() => void process.off('unhandledRejection', noteUnhandled));
afterEach(() => expect(unhandled.splice(0)).toEqual([]));

// ---- Errors of the transports ----

/** A server with a fault, and its transport. */
interface FaultyService {
  readonly transport: Transport;
  /** The calls that arrived completely. */
  readonly calls: readonly unknown[];
  recover(): void;
  close(): Promise<void>;
}

/** The test vector of protocol section 7. */
const known = Buffer.from('080110011801', 'hex');

async function overProxy(fault: Fault): Promise<FaultyService> {
  const simulator = await faultSequencer(fault.proxy ?? ok());
  return {
    transport: createHttpTransport({ url: simulator.url, timeoutMs: ample }),
    calls: simulator.calls,
    recover: () => simulator.answerWith(ok(known)),
    close: async () => undefined,
  };
}

async function overGrpc(fault: Fault): Promise<FaultyService> {
  const server = await startGrpcFaultServer(fault.grpc ?? grpcOk());
  return {
    transport: createGrpcTransport({ url: server.url, timeoutMs: timeoutMsOf(fault) }),
    calls: server.calls,
    recover: () => server.behave(grpcOk(known)),
    close: () => server.close(),
  };
}

describe.each([
  ['the HTTP transport', faultsOf('proxy'), overProxy],
  ['the gRPC transport', faultsOf('grpc'), overGrpc],
] as const)('%s', (_name, rows, start) => {
  test.each<[string, Fault]>([...rows])(
    'reports "%s" by its code, does not repeat the call, and recovers',
    async (_row, fault) => {
      const { transport, calls, recover, close } = await start(fault);
      const intent = await signPaymentIntent(payment);
      const timed = {
        call: (...[operation, body]: [Operation, Uint8Array]) =>
          callWithTimeout(transport, operation, body, { timeoutMs: timeoutMsOf(fault), signal: undefined }),
      };
      try {
        const error = await errorOf(createIntent(timed, { dialect: 'intents', timeoutMs: ample }, intent));
        expectReported(error, fault);
        expect(calls.length).toBeLessThanOrEqual(1);

        recover();
        const readStatus = () => getStatus(transport, intent.id);
        const expected = { exists: true, codeScanned: true, intentSubmitted: true };
        // Over gRPC the short timeout applies to this call as well.
        if (fault.code === 'sequencer_timeout')
          await eventually(async () => expect(await readStatus()).toEqual(expected));
        else expect(await readStatus()).toEqual(expected);
      } finally {
        await transport.close();
        await close();
      }
    },
  );
});

test.each([
  ['HTTP', (url: string) => createHttpTransport({ url, timeoutMs: ample })],
  ['gRPC', (url: string) => createGrpcTransport({ url, timeoutMs: ample })],
])('the %s transport reports each refused connection without waiting for its timeout', async (_name, connect) => {
  const transport = connect(await unreachableUrl());
  const intent = await signPaymentIntent(payment);
  for (let n = 0; n < 3; n += 1) {
    const error = await errorOf(createIntent(transport, { dialect: 'intents', timeoutMs: ample }, intent));
    expectReported(error, { code: 'sequencer_unreachable', isTransient: true });
  }
  await transport.close();
});

/** A rejected create with a reason concerns this intent. */
const createCodeOf = (code: string): string => (code === 'sequencer_error' ? 'intent_refused' : code);

function expectReported(error: unknown, { code, httpStatus, retryAfterMs }: Fault): void {
  expect(error).toBeInstanceOf(SequencerError);
  const { message, title, serviceMessage, ...reported } = error as SequencerError;
  expect(reported.name).toBe('SequencerError');
  expect(reported.httpStatus).toBe(httpStatus);
  expect([code, createCodeOf(code)]).toContain(reported.code);
  expect((error as SequencerError).retryAfterMs).toBe(retryAfterMs);
  expect(message + title).not.toContain('canary');
  expect(serviceMessage).toBe(code === 'sequencer_error' ? canary : undefined);
  expectNoSecret(error);
}

// ---- Reactions of the client and the routes ----

let simulator: Simulator;
/** A client of the sequencer that no fault affects. */
let witness: IntentClient;
/** A confirmed login. */
let login: { id: string; userId: string };

beforeAll(async () => {
  const keyFile = await serve((_req, res) => res.end(JSON.stringify({ public_keys: [verifier.publicKey] })));
  simulator = await startSimulator({ grpcPort: 0, localDomains: { [domain]: keyFile } });
  witness = createIntentClient({ transport: simulator.transport });
  const terms = { login: { verifier: verifier.publicKey, domain }, signers: [verifier] };
  const { id, clientSecret } = await witness.loginIntents.create(terms);
  await simulator.wallet().login(clientSecret);
  login = { id, userId: simulator.wallet().userId(domain) };
});
afterAll(() => simulator.close());

const phases = ['before the effect', 'after the effect'] as const;
const durations = ['once', 'permanently'] as const;

interface Cell {
  readonly fault: Fault;
  readonly phase: (typeof phases)[number];
  readonly duration: (typeof durations)[number];
}

/** A transport to the sequencer, whose calls the test can make fail. */
interface FaultyTransport {
  readonly transport: Transport;
  inject(cell: Cell): void;
  clear(): void;
}

/** A fault in memory: the error of the transport, without delay. */
function inMemory(): FaultyTransport {
  let injected: Cell | undefined;
  const call = async (operation: Operation, body: Uint8Array, timeoutMs: number): Promise<Uint8Array> => {
    const met = injected;
    if (met?.duration === 'once') injected = undefined;
    if (met?.phase === 'before the effect') throw errorFrom(met.fault, timeoutMs);
    const answer = await simulator.transport.call(operation, body);
    if (met) throw errorFrom(met.fault, timeoutMs);
    return answer;
  };
  return {
    transport: {
      call: (operation, body) => call(operation, body, ample),
      callWithTimeout: (operation, body, { timeoutMs }) => call(operation, body, timeoutMs),
      close: async () => undefined,
    },
    inject: (cell) => {
      injected = cell;
    },
    clear: () => {
      injected = undefined;
    },
  };
}

function errorFrom({ code, httpStatus, retryAfterMs }: Fault, timeoutMs: number): SequencerError {
  if (code === 'sequencer_timeout') return answerTimeoutError(timeoutMs);
  const serviceMessage = code === 'sequencer_error' ? canary : undefined;
  return new SequencerError(code, 'An injected fault.', { httpStatus, retryAfterMs, serviceMessage });
}

/** The result of an attempt: `ok` or the error code, and everything that the caller received. */
interface Outcome {
  readonly code: string;
  readonly shown: string;
}

interface Operations {
  readonly method: string;
  /** The result of a second attempt after a success. */
  readonly repeated: string;
  prepare(transport: Transport): Promise<{ attempt(): Promise<Outcome>; close(): Promise<void> }>;
}

const operations: Record<string, Operations> = {
  'client.paymentIntents.create': ofClient('createIntent', (client) => client.paymentIntents.create(payment)),
  'client.paymentIntents.getStatus': ofClient('getStatus', async (client) => {
    expect(await client.paymentIntents.getStatus(login.id)).toMatchObject({ exists: true, intentSubmitted: true });
  }),
  'client.loginIntents.getUserId': ofClient('getLoginForThirdPartyApp', async (client) => {
    const { userId } = await client.loginIntents.getUserId({ intent: login.id, verifier });
    expect(userId).toBe(login.userId);
  }),
  'POST /intent, payment': ofRoute('createIntent', async () => ['POST', '/intent', { order: 1 }]),
  'POST /intent, login': ofRoute('createIntent', async () => ['POST', '/intent', { mode: 'login' }]),
  'GET /status/:id': ofRoute('getStatus', async () => ['GET', `/status/${login.id}`]),
  'POST /session': {
    ...ofRoute('getLoginForThirdPartyApp', async (browser) => {
      const created = await browser.send('POST', '/intent', { mode: 'login' });
      const secret = String(created.body.client_secret);
      await simulator.wallet().login(secret);
      return ['POST', '/session', { id: intentIdOf(secret) }];
    }),
    // A login can be completed once.
    repeated: 'intent_not_found',
  },
};

function ofClient(method: string, call: (client: IntentClient) => Promise<unknown>): Operations {
  return {
    method,
    repeated: 'ok',
    prepare: async (transport) => {
      const client = createIntentClient({ transport, timeoutMs: ample });
      const attempt = (): Promise<Outcome> =>
        call(client).then(
          () => ({ code: 'ok', shown: '' }),
          (error) => ({ code: error.code ?? String(error), shown: everythingIn(error) }),
        );
      return { attempt, close: () => client.close() };
    },
  };
}

type Request = [method: string, path: string, body?: unknown];

function ofRoute(method: string, begin: (browser: Browser) => Promise<Request>): Operations {
  return {
    method,
    repeated: 'ok',
    prepare: async (transport) => {
      const { origin, log } = await startSite({
        sequencer: { transport, timeoutMs: ample },
        payment: () => payment,
        login: { domain },
      });
      const browser = new Browser(origin);
      const request = await begin(browser);
      const attempt = async (): Promise<Outcome> => {
        const { status, body, headers } = await browser.send(...request);
        if (status < 300) return { code: 'ok', shown: '' };
        const code = String(body.code) as keyof typeof errorCodes;
        const [expectedStatus, title] = errorCodes[code] ?? [];
        const instance = `urn:express-intents:request:${headers.get('x-request-id')}`;
        expect(headers.get('content-type')).toBe('application/problem+json');
        expect(status).toBe(expectedStatus);
        expect(body).toMatchObject({ type: `urn:express-intents:error:${code}`, title, status, code, instance });
        if (code.startsWith('sequencer_') || code === 'intent_refused') {
          expect(Object.keys(body).sort()).toEqual(['code', 'instance', 'status', 'title', 'type']);
          expect(log.text).toContain(code);
        }
        // The browser gets nothing but its binding cookie, for the next attempt.
        expect(headers.getSetCookie().filter((cookie) => !/^intent=[\w-]{43}; Path=\//.test(cookie))).toEqual([]);
        const shown = JSON.stringify([body, [...headers]]);
        expect(shown).not.toContain('canary');
        return { code, shown };
      };
      return { attempt, close: async () => undefined };
    },
  };
}

async function play(faulty: FaultyTransport, { method, repeated, prepare }: Operations, cell: Cell): Promise<void> {
  const tapped = tappedTransport(faulty.transport);
  const { attempt, close } = await prepare(tapped);
  const { fault, phase, duration } = cell;
  const recovers = duration === 'once' && fault.isTransient;
  try {
    tapped.calls.length = 0;
    faulty.inject(cell);
    const { code, shown } = await attempt();
    const bodies = tapped.calls.filter((call) => call.method === method).map(({ body }) => body);

    const expected = method === 'createIntent' ? createCodeOf(fault.code) : fault.code;
    expect(code).toBe(recovers ? 'ok' : expected);
    expect(shown).not.toContain(secretPrefix);
    // None is repeated outside the retries: a cut answer had begun, so its connection was not dropped before the call.
    expect(bodies).toHaveLength(recovers ? 2 : fault.isTransient ? 3 : 1);
    // A retry sends the same bytes, so there is at most one intent.
    expect(new Set(bodies).size).toBe(1);
    if (method === 'createIntent') {
      const { exists } = await witness.paymentIntents.getStatus(idIn(bodies[0] ?? ''));
      expect(exists).toBe(recovers || phase === 'after the effect');
    }

    faulty.clear();
    expect((await attempt()).code).toBe(recovers ? repeated : 'ok');
  } finally {
    await close();
  }
}

// A route reacts to the code. A client also reacts to the HTTP status.
const isRoute = (name: string): boolean => name.includes('/');
const routeOutcomes = new Map(distinctOutcomes().map((fault) => [`${fault.code} ${fault.isTransient}`, nameOf(fault)]));
const isOutcomeOfRoute = (fault: Fault): boolean => [...routeOutcomes.values()].includes(nameOf(fault));

describe.each(distinctOutcomes().map((fault) => [nameOf(fault), fault] as const))('in memory: %s', (_fault, fault) => {
  test.each(Object.keys(operations).filter((name) => !isRoute(name) || isOutcomeOfRoute(fault)))(
    '%s retries where a retry can succeed, and never returns a secret',
    async (name) => {
      const cells = phases.flatMap((phase) => durations.map((duration): Cell => ({ fault, phase, duration })));
      await playAll(cells, (cell) => play(inMemory(), operations[name] as Operations, cell));
    },
  );
});

/** Runs cells of the table concurrently. A failure names its cell. */
async function playAll(cells: readonly Cell[], playOne: (cell: Cell) => Promise<void>): Promise<void> {
  const failures: string[] = [];
  const playNamed = (cell: Cell): Promise<void> =>
    playOne(cell).catch((error) => void failures.push(`${cell.duration}, ${cell.phase}: ${error.stack}`));
  await Promise.all(cells.map(playNamed));
  expect(failures).toEqual([]);
}

/** Every distinct outcome of a call, over any transport. */
function distinctOutcomes(): Fault[] {
  const outcomes = Object.values(faults)
    .filter(({ proxy, grpc }) => proxy ?? grpc)
    .map(({ code, isTransient, httpStatus, retryAfterMs }) => ({
      code,
      isTransient,
      ...(httpStatus !== undefined && { httpStatus }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    }));
  return [...new Map(outcomes.map((outcome) => [nameOf(outcome), outcome])).values()];
}

function nameOf({ code, httpStatus, retryAfterMs }: Fault): string {
  const retryAfter = retryAfterMs === undefined ? '' : `, to be retried after ${retryAfterMs} ms`;
  return `${code}${httpStatus === undefined ? '' : ` ${httpStatus}`}${retryAfter}`;
}

// ---- The same over the network, with faults of the simulator ----

const unreachable: Fault = { code: 'sequencer_unreachable', isTransient: true };
const wireFaults = [
  ['a cut answer', 'cut', unreachable],
  ['a refusal', 'error', { code: 'sequencer_error', isTransient: false }],
  ['noise', 'garble', { code: 'sequencer_bad_response', isTransient: false }],
] as const;

describe.each([
  ['the proxy', () => createHttpTransport({ url: simulator.url, timeoutMs: ample })],
  ['gRPC', () => createGrpcTransport({ url: String(simulator.grpcUrl), timeoutMs: ample })],
] as const)('over %s', (_transport, connect) => {
  afterEach(() => simulator.clearFaults());

  describe.each(wireFaults)('%s', (_name, kind, fault) => {
    test.each(['client.paymentIntents.create', 'POST /intent, payment', 'POST /session'])(
      '%s retries where a retry can succeed, and never returns a secret',
      async (name) => {
        const { method, ...operation } = operations[name] as Operations;
        for (const phase of phases) {
          for (const duration of durations) {
            const transport = connect();
            const inject = (): void => {
              const times = duration === 'once' ? { times: 1 } : {};
              const when = phase === 'before the effect' ? 'before' : 'after';
              simulator.injectFault({ kind, operations: [method as 'createIntent'], when, ...times });
            };
            const faulty = { transport, inject, clear: () => simulator.clearFaults() };
            await play(faulty, { method, ...operation }, { fault, phase, duration });
            await transport.close();
          }
        }
      },
    );
  });
});

test('the error text of the service is logged on one line and never returned to a browser', async () => {
  const text = Buffer.from(`${canary}\nerror forged line`);
  const error = Buffer.concat([Buffer.of(0x08, 0x01, 0x1a, text.length), text]);
  const { url } = await faultSequencer((_call, res) => void res.end(error));
  const { origin, log } = await startSite({ sequencer: { url }, payment: () => payment });
  const { status, body } = await new Browser(origin).send('POST', '/intent', { order: 1 });
  expect(status).toBe(502);
  expect(JSON.stringify(body)).not.toContain('canary');
  expect(log.text).toContain('canary');
  expect(log.lines).toHaveLength(1);
});

test('the secret of a created intent starts with the prefix that these tests search for', async () => {
  const transport: Transport = { call: async ({ method }) => plainSuccess(method), close: async () => undefined };
  const { clientSecret } = await createIntentClient({ transport }).paymentIntents.create(payment);
  expect(clientSecret.startsWith(secretPrefix)).toBe(true);
});

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => new Error('It was a success.'),
    (error) => error,
  );
}

/** Expects the secret in no part of the error, neither as text nor as bytes. */
function expectNoSecret(error: unknown): void {
  const shown = everythingIn(error);
  expect(shown).not.toContain(secretPrefix);
  expect(shown).not.toMatch(/02,? ?8c,? ?40,? ?e2,? ?01/);
  expect(shown).not.toMatch(/2,\s+140,\s+64,\s+226,\s+1,/);
}

function everythingIn(value: unknown): string {
  const depth = Number.POSITIVE_INFINITY;
  return inspect(value, { depth, showHidden: true, maxArrayLength: null, maxStringLength: null });
}

/** The id of the intent that a request creates. @param body base64 */
function idIn(body: string): string {
  const { requestToReceiveBill, requestToLogin } = decode(v1.Message, Buffer.from(body, 'base64'));
  return formatBase58((requestToReceiveBill ?? requestToLogin)?.rendezvousKey?.value ?? new Uint8Array());
}

/** The prefix of all client secrets of these terms: the first nine bytes of the payload are not secret. */
function commonSecretPrefix(money: { currency: string; hundredths: bigint }): string {
  const secretOf = (fill: number): string =>
    formatBase58(encodePayload({ kind: 'payment', money, nonce: new Uint8Array(11).fill(fill) }));
  const [lowest, highest] = [secretOf(0x00), secretOf(0xff)];
  const length = [...lowest].findIndex((letter, index) => letter !== highest[index]);
  return lowest.slice(0, length);
}
