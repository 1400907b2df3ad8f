import { inspect } from 'node:util';
import {
  createIntentClient,
  createSigner,
  type Dialect,
  generateKey,
  type IntentClient,
  SequencerError,
} from '../../src/index.js';
import { encodePayload } from '../../src/intents/payload.js';
import { formatBase58 } from '../../src/keys/base58.js';
import {
  canary,
  type FaultSequencer,
  faultTable,
  ok,
  startFaultSequencer,
  urlOfNobody,
} from '../support/sequencers/fault-sequencer.js';

const timeoutMs = 400;
/** For what is not to end by the time, also on a machine that is busy. */
const ampleMs = 3_000;
/** Well above the time-out and what a busy machine adds to it. */
const patienceMs = 3_500;

const verifier = createSigner(generateKey().secret);
const id = generateKey().publicKey;
// An amount with bytes that are easy to find again: 40 e2 01.
const payment = { destination: generateKey().publicKey, amount: '1234.56', currency: 'usd' };
const secretPrefix = commonSecretPrefix({ currency: 'usd', hundredths: 123_456n });

const operations: [name: string, call: (client: IntentClient) => Promise<unknown>][] = [
  ['create (interface 4.3)', (client) => client.paymentIntents.create(payment)],
  ['getStatus (interface 4.4)', (client) => client.paymentIntents.getStatus(id)],
  ['getUserId (interface 4.7)', (client) => client.loginIntents.getUserId({ intent: id, verifier })],
];

/** A refusal of a create is one of this very intent. */
const codeOf = (operation: string, code: string): string =>
  code === 'sequencer_error' && operation.startsWith('create') ? 'intent_refused' : code;

let sequencer: FaultSequencer;
let client: IntentClient;

beforeEach(async () => {
  sequencer = await startFaultSequencer(ok());
  client = createIntentClient({ url: sequencer.url, timeoutMs });
});
afterEach(async () => {
  await client.close();
  await sequencer.close();
});

describe.each(operations)('%s', (_operation, call) => {
  it.each(faultTable)('tells %s by its code, in time, and goes on (interface 7)', async (_name, fault) => {
    sequencer.answerWith(fault.answer);
    const bounded = createIntentClient({
      url: sequencer.url,
      timeoutMs: fault.code === 'sequencer_timeout' ? timeoutMs : ampleMs,
    });
    const begun = performance.now();
    const error = await errorOf(call(bounded));
    expect(performance.now() - begun).toBeLessThan(patienceMs);
    expect(error).toBeInstanceOf(SequencerError);
    expect(error).toMatchObject({ name: 'SequencerError', code: codeOf(_operation, fault.code) });
    // A connection that was cut is worth another try, where the time is enough; nothing else here is.
    const mostCalls = fault.code === 'sequencer_unreachable' ? 3 : 1;
    expect(sequencer.calls.length).toBeGreaterThanOrEqual(1);
    expect(sequencer.calls.length).toBeLessThanOrEqual(mostCalls);
    expectNoSecret(error);

    sequencer.answerWith(ok());
    expect(await bounded.paymentIntents.getStatus(id)).toMatchObject({ exists: false });
    await bounded.close();
  });

  it('tells that nobody listens', async () => {
    const lonely = createIntentClient({ url: await urlOfNobody(), timeoutMs });
    const error = await errorOf(call(lonely));
    expect(error).toMatchObject({ name: 'SequencerError', code: 'sequencer_unreachable' });
    expectNoSecret(error);
    await lonely.close();
  });

  it('tells a client that was closed', async () => {
    const closed = createIntentClient({ url: sequencer.url, timeoutMs });
    await closed.close();
    const error = await errorOf(call(closed));
    expect(error).toMatchObject({ code: 'sequencer_unreachable' });
    expectNoSecret(error);
    expect(sequencer.calls).toEqual([]);
  });

  it("keeps the service's own text out of what is shown, and in what is logged (interface 7.2)", async () => {
    for (const [, fault] of faultTable) {
      sequencer.answerWith(fault.answer);
      const error = await errorOf(call(client));
      expect(error.message).not.toContain('canary');
      expect(error.title).not.toContain('canary');
      expect(error.serviceMessage).toBe(fault.code === 'sequencer_error' ? canary : undefined);
    }
  });

  it('says which HTTP status it was (interface 7.3)', async () => {
    sequencer.answerWith((_call, res) => res.writeHead(503).end());
    expect(await errorOf(call(client))).toMatchObject({ code: 'sequencer_bad_status', httpStatus: 503 });
  });

  it('waits for no error page that never ends', async () => {
    sequencer.answerWith((_call, res) => {
      res.writeHead(500);
      res.write('<!doctype html>');
    });
    const begun = performance.now();
    expect(await errorOf(call(client))).toBeInstanceOf(SequencerError);
    expect(performance.now() - begun).toBeLessThan(patienceMs);
  });
});

describe('success is what was said to be one', () => {
  it('takes the status of an intent that exists as a created intent (protocol 5)', async () => {
    const { clientSecret } = await client.paymentIntents.create(payment);
    // This is also what makes sure that expectNoSecret looks for the right thing.
    expect(clientSecret.startsWith(secretPrefix)).toBe(true);
  });

  it.each<[Dialect, string, Uint8Array]>([
    ['messaging', 'NO_ACTIVE_STREAM', Uint8Array.of(0x08, 0x01)],
    ['messaging', 'a result that this version has no name for', Uint8Array.of(0x08, 0x05)],
    ['messaging', 'a negative result', Buffer.from('08ffffffffffffffffff01', 'hex')],
  ])('dialect %s: %s is a refusal (protocol 5)', async (dialect, _name, body) => {
    const own = createIntentClient({ url: sequencer.url, dialect, timeoutMs });
    sequencer.answerWith(ok(body));
    const error = await errorOf(own.paymentIntents.create(payment));
    expect(error).toMatchObject({ name: 'SequencerError', code: 'sequencer_error' });
    expectNoSecret(error);
    await own.close();
  });

  it('dialect messaging: result OK with more around it is a success', async () => {
    const own = createIntentClient({ url: sequencer.url, dialect: 'messaging', timeoutMs });
    // result = 0, message_id of 16 bytes, and a field that this version does not know.
    sequencer.answerWith(ok(Buffer.from(`0800 1212 0a10 ${'ab'.repeat(16)} fa0100`.replaceAll(' ', ''), 'hex')));
    expect(await own.paymentIntents.create(payment)).toHaveProperty('id');
    expect(sequencer.calls.map(({ method }) => method)).toEqual(['sendMessage']);
    await own.close();
  });

  it.each<[string, string]>([
    ['1 REQUEST_NOT_FOUND', 'intent_not_found'],
    ['2 LOGIN_NOT_SUPPORTED', 'not_supported'],
    ['3 NO_USER_LOGGED_IN', 'login_pending'],
    ['4, which has no name', 'sequencer_error'],
  ])('getUserId: result %s is %s (interface 4.7, protocol 5)', async (result, code) => {
    // The user id beside it must not make a success of it.
    const userId = [0x12, 0x22, 0x0a, 0x20, ...new Array<number>(32).fill(9)];
    sequencer.answerWith(ok(Uint8Array.of(0x08, Number.parseInt(result, 10), ...userId)));
    const error = await errorOf(client.loginIntents.getUserId({ intent: id, verifier }));
    expect(error).toMatchObject({ code });
  });

  it.each([0, 31, 33, 64])('getUserId: OK with a user id of %d bytes is no answer (interface 8)', async (length) => {
    const userId = [0x12, length + 2, 0x0a, length, ...new Array<number>(length).fill(9)];
    sequencer.answerWith(ok(Uint8Array.of(0x08, 0x00, ...userId)));
    const error = await errorOf(client.loginIntents.getUserId({ intent: id, verifier }));
    expect(error).toMatchObject({ code: 'sequencer_bad_response' });
  });

  it('getUserId: OK with a user id of 32 bytes is the user (interface 4.7)', async () => {
    sequencer.answerWith(ok(Uint8Array.of(0x12, 0x22, 0x0a, 0x20, ...new Array<number>(32).fill(0))));
    expect(await client.loginIntents.getUserId({ intent: id, verifier })).toEqual({ userId: '1'.repeat(32) });
  });

  it('getStatus: reads the known answer (protocol 7)', async () => {
    sequencer.answerWith(ok(Buffer.from('080110011801', 'hex')));
    expect(await client.paymentIntents.getStatus(id)).toEqual({
      exists: true,
      codeScanned: true,
      intentSubmitted: true,
    });
  });
});

async function errorOf(promise: Promise<unknown>): Promise<SequencerError> {
  const outcome = await promise.then(
    () => new Error('It was a success.'),
    (error: Error) => error,
  );
  return outcome as SequencerError;
}

/** Neither as text nor as bytes, in no corner of the error. */
function expectNoSecret(error: unknown): void {
  const shown = inspect(error, {
    depth: Number.POSITIVE_INFINITY,
    showHidden: true,
    maxArrayLength: null,
    maxStringLength: null,
  });
  expect(shown).not.toContain(secretPrefix);
  expect(shown).not.toMatch(/02,? ?8c,? ?40,? ?e2,? ?01/);
  expect(shown).not.toMatch(/2,\s+140,\s+64,\s+226,\s+1,/);
}

/** What all client secrets of these terms begin with: the first nine bytes of the payload are no secret. */
function commonSecretPrefix(money: { currency: string; hundredths: bigint }): string {
  const secretOf = (fill: number): string =>
    formatBase58(encodePayload({ kind: 'payment', money, nonce: new Uint8Array(11).fill(fill) }));
  const [lowest, highest] = [secretOf(0x00), secretOf(0xff)];
  let length = 0;
  while (lowest[length] === highest[length]) length += 1;
  return lowest.slice(0, length);
}
