import { inspect } from 'node:util';
import express from 'express';
import { intentRouter } from '../../src/intent-router.js';
import { formatBase58 } from '../../src/keys/base58.js';
import { createSigner } from '../../src/keys/verifier-key.js';
import { createIntentClient, type IntentClient } from '../../src/sequencer/intent-client.js';
import { type Sequencer, startSequencer } from '../../src/testing.js';
import { decode, v1 } from '../../src/wire/codec.js';
import { Browser } from '../support/browser/browser.js';
import { canary } from '../support/sequencers/fault-sequencer.js';
import { type Expected, type FaultWay, type FaultyLine, type Phase, phases } from '../support/sequencers/fault-way.js';
import { proxyWay } from '../support/sequencers/proxy-way.js';
import { serve } from '../support/sites/serve.js';
import { destination, domain, LogRecorder, verifierSecret } from '../support/sites/site.js';

/** The ways to the service. Another one is another line here. */
const ways: readonly FaultWay[] = [proxyWay];

/** Of calls that nothing but the time ends; others would need it only on a machine that is busy, and then have more of it. */
const shortly = { timeoutMs: 1_500, tryTimeoutMs: 600 };
const boundsOf = ({ expected }: Cell) =>
  expected.code === 'sequencer_timeout' ? shortly : { timeoutMs: 10_000, tryTimeoutMs: 5_000 };
/** What a busy machine adds to the bound of a call. */
const slackMs = 3_000;

const verifier = createSigner(verifierSecret);
const payment = { destination, amount: '1234.56', currency: 'usd' };

let sequencer: Sequencer;
/** A client of the real sequencer, to see what became of things. */
let witness: IntentClient;
/** A login that was confirmed. */
let login: { id: string; userId: string };

beforeAll(async () => {
  const keyFile = await serve((_req, res) => res.end(JSON.stringify({ public_keys: [verifier.publicKey] })));
  sequencer = await startSequencer({ localDomains: { [domain]: keyFile } });
  witness = createIntentClient({ url: sequencer.url });
  const terms = { login: { verifier: verifier.publicKey, domain }, signers: [verifier] };
  const { id, clientSecret } = await witness.loginIntents.create(terms);
  await sequencer.wallet().login(clientSecret);
  login = { id, userId: sequencer.wallet().userId(domain) };
});

afterAll(async () => {
  await witness.close();
  await sequencer.close();
});

/** One call whose way is spoilt. */
interface Cell {
  readonly fault: string;
  readonly expected: Expected;
  readonly phase: Phase;
  /** How many calls are spoilt. */
  readonly times: number;
}

/** What became of a call. */
interface Outcome {
  /** `ok`, or the code of the error. */
  readonly code: string;
  /** Everything that whoever called was told. */
  readonly told: string;
  readonly tookMs: number;
}

/** A refusal of a create is one of this very intent. */
const codeOf = ({ method }: Operation, { expected: { code } }: Cell): string =>
  code === 'sequencer_error' && method === 'createIntent' ? 'intent_refused' : code;

interface Prepared {
  attempt(): Promise<Outcome>;
  close(): Promise<void>;
}

/** An operation, made ready for a cell: the first attempt is the spoilt one, another shows that all is well again. */
interface Operation {
  readonly name: string;
  readonly method: string;
  /** What is answered when it is asked for again after it went well. */
  readonly afterwards: string;
  prepare(line: FaultyLine, cell: Cell): Promise<Prepared>;
}

const always = Number.POSITIVE_INFINITY;

const ofClients: readonly Operation[] = [
  ofClient('createIntent', (client) => client.paymentIntents.create(payment)),
  ofClient('getStatus', async (client) => {
    const status = await client.paymentIntents.getStatus(login.id);
    expect(status).toMatchObject({ exists: true, intentSubmitted: true });
  }),
  ofClient('getLoginForThirdPartyApp', async (client) => {
    const { userId } = await client.loginIntents.getUserId({ intent: login.id, verifier });
    expect(userId).toBe(login.userId);
  }),
];

const ofRoutes: readonly Operation[] = [
  ofRoute('createIntent', async () => ['POST', '/intent', { order: 1 }]),
  ofRoute('getStatus', async () => ['GET', `/status/${login.id}`]),
  {
    ...ofRoute('getLoginForThirdPartyApp', async (browser, line) => {
      const begun = await browser.send('POST', '/intent', { mode: 'login' });
      await sequencer.wallet().login(String(begun.body.client_secret));
      return ['POST', '/session', { id: idIn(line.received[0]?.body) }];
    }),
    // A login counts once.
    afterwards: 'intent_not_found',
  },
];

function ofClient(method: string, call: (client: IntentClient) => Promise<unknown>): Operation {
  return {
    name: `client, ${method}`,
    method,
    afterwards: 'ok',
    prepare: async (line, cell) => {
      const client = createIntentClient({ transport: line.connect(), ...boundsOf(cell) });
      return { attempt: () => timed(() => outcomeOf(call(client))), close: () => client.close() };
    },
  };
}

async function outcomeOf(call: Promise<unknown>): Promise<Omit<Outcome, 'tookMs'>> {
  return call.then(
    () => ({ code: 'ok', told: '' }),
    (error) => ({ code: error.code, told: inspect(error, { depth: 9, showHidden: true, maxArrayLength: null }) }),
  );
}

function ofRoute(
  method: string,
  begin: (browser: Browser, line: FaultyLine) => Promise<[method: string, path: string, body?: unknown]>,
): Operation {
  return {
    name: `route, ${method}`,
    method,
    afterwards: 'ok',
    prepare: async (line, cell) => {
      const log = new LogRecorder();
      const router = intentRouter({
        transport: line.connect(),
        ...boundsOf(cell),
        payment: () => payment,
        verifierSecret,
        domain,
        logger: log,
      });
      const browser = new Browser(await serve(express().use(router)));
      const request = await begin(browser, line);
      const attempt = async (): Promise<Omit<Outcome, 'tookMs'>> => {
        const { status, body, headers } = await browser.send(...request);
        const told = JSON.stringify([body, [...headers]]);
        if (status < 300) return { code: 'ok', told: '' };
        expect(headers.get('content-type')).toBe('application/problem+json');
        expect(body).toMatchObject({ status, code: expect.any(String) });
        expect(told).not.toContain(canary);
        expect(told).not.toContain('client_secret');
        if (status >= 500) expect(log.text).toContain(String(body.code));
        return { code: String(body.code), told };
      };
      return { attempt: () => timed(attempt), close: () => router.close() };
    },
  };
}

async function timed(attempt: () => Promise<Omit<Outcome, 'tookMs'>>): Promise<Outcome> {
  const begun = performance.now();
  const outcome = await attempt();
  return { ...outcome, tookMs: performance.now() - begun };
}

/** The calls of this method that came through, from the `from`th on. */
const bodiesOf = (line: FaultyLine, method: string, from: number): Uint8Array[] =>
  line.received.slice(from).flatMap((call) => (call.method === method ? [call.body] : []));

/** Makes a cell ready: what comes back plays it. */
async function prepare(way: FaultWay, operation: Operation, cell: Cell): Promise<() => Promise<void>> {
  const line = await way.openLine(sequencer.url);
  const prepared = await operation.prepare(line, cell);
  return async () => {
    try {
      await play(line, operation, prepared, cell);
    } finally {
      await prepared.close();
      await line.close();
    }
  };
}

async function play(line: FaultyLine, operation: Operation, { attempt }: Prepared, cell: Cell): Promise<void> {
  const before = line.received.length;
  line.strike(cell.fault, cell.phase, cell.times);
  const outcome = await attempt();
  const bodies = bodiesOf(line, operation.method, before);
  const mended = cell.times === 1 && cell.expected.passes;

  expect(outcome.code).toBe(mended ? 'ok' : codeOf(operation, cell));
  expect(outcome.tookMs).toBeLessThan(boundsOf(cell).timeoutMs + slackMs);
  // Amount and currency are in its first bytes, so that every secret of this payment begins alike.
  expect(outcome.told).not.toMatch(secretForm);
  expect(bodies.length).toBeLessThanOrEqual(cell.expected.passes ? 3 : 1);
  // Only the very same bytes are ever sent again, so that there is one intent at most.
  for (const body of bodies) expect(Buffer.compare(body, bodies[0] as Uint8Array)).toBe(0);
  if (operation.method === 'createIntent' && bodies.length > 0) {
    expect(await isKnown(bodies[0] as Uint8Array)).toBe(mended || cell.phase === 'after effect');
  }
  if (cell.phase !== 'before send') expect(bodies.length).toBeGreaterThanOrEqual(mended ? 2 : 1);

  line.lift();
  expect((await attempt()).code).toBe(mended ? operation.afterwards : 'ok');
}

/** Base58 of a payload that begins with 0x02, usd, 123456 hundredths: 27 characters, the first ten always these. */
const secretForm = new RegExp(secretPrefix());

function secretPrefix(): string {
  const ofNonce = (fill: number): string =>
    formatBase58(Uint8Array.from([2, 0x8c, 0x40, 0xe2, 1, 0, 0, 0, 0, ...new Array<number>(11).fill(fill)]));
  const [lowest, highest] = [ofNonce(0), ofNonce(255)];
  const length = [...lowest].findIndex((letter, index) => letter !== highest[index]);
  expect(length).toBeGreaterThan(6);
  return lowest.slice(0, length);
}

/** Whether the real sequencer knows the intent that these bytes create. */
async function isKnown(body: Uint8Array): Promise<boolean> {
  return (await witness.paymentIntents.getStatus(idIn(body))).exists;
}

/** The id of the intent that these bytes create. */
function idIn(body: Uint8Array = new Uint8Array()): string {
  const { requestToReceiveBill, requestToLogin } = decode(v1.Message, body);
  return formatBase58((requestToReceiveBill ?? requestToLogin)?.rendezvousKey?.value ?? new Uint8Array());
}

describe.each(ways.map((way) => [way.name, way] as const))('over %s', (_name, way) => {
  const faults = Object.entries(way.faults);

  it('at least 14 things go wrong', () => {
    expect(faults.length).toBeGreaterThanOrEqual(14);
  });

  // An unhandled rejection anywhere fails the test that runs: jest sees to that.
  describe.each([
    ['the client', ofClients],
    ['the routes', ofRoutes],
  ])('%s', (_who, operations) => {
    test.each(faults)('%s, in every phase, for ever and once', async (fault, expected) => {
      const cells = phases.flatMap((phase) => [always, 1].map((times) => ({ fault, expected, phase, times })));
      const failures: string[] = [];
      const ready = operations.flatMap((operation) =>
        cells.map(async (cell) => {
          const run = await prepare(way, operation, cell);
          const name = `${operation.name}, ${cell.phase}, ${cell.times === 1 ? 'once' : 'for ever'}`;
          return () => run().catch((error) => void failures.push(`${name}: ${error.message}`));
        }),
      );
      // All are made ready before the first begins, so that making them takes no time from their calls.
      await Promise.all((await Promise.all(ready)).map((run) => run()));
      expect(failures).toEqual([]);
    });
  });
});
