import { jest } from '@jest/globals';
import { createIntentClient, createSigner, type Dialect, generateKeyPair, type Transport } from '../../src/index.js';
import { rejectedCode } from '../wire/thrown-code.js';

// How the client interprets responses. They are in memory: the transports have tests of their own.

const verifier = createSigner(generateKeyPair().secret);
const id = generateKeyPair().publicKey;
const payment = { destination: generateKeyPair().publicKey, amount: '1.00', currency: 'usd' };
/** An OK response with a user id of `length` bytes. */
const userIdOf = (length: number): number[] => [0x12, length + 2, 0x0a, length, ...new Array<number>(length).fill(9)];

function clientOf(answer: Uint8Array, dialect: Dialect = 'intents') {
  return createIntentClient({ transport: { call: async () => answer, close: async () => undefined }, dialect });
}

describe('paymentIntents.create', () => {
  it.each<[Dialect, string, Uint8Array]>([
    ['messaging', 'NO_ACTIVE_STREAM', Uint8Array.of(0x08, 0x01)],
    ['messaging', 'a result that this version has no name for', Uint8Array.of(0x08, 0x05)],
    ['messaging', 'a negative result', Buffer.from('08ffffffffffffffffff01', 'hex')],
  ])('in dialect %s with %s is rejected (protocol 5)', async (dialect, _name, answer) => {
    expect(await rejectedCode(clientOf(answer, dialect).paymentIntents.create(payment))).toBe('sequencer_error');
  });

  it('in dialect messaging with OK and unknown fields succeeds', async () => {
    // result = 0, message_id of 16 bytes, and a field that this version does not know.
    const answer = Buffer.from(`0800 1212 0a10 ${'ab'.repeat(16)} fa0100`.replaceAll(' ', ''), 'hex');
    expect(await clientOf(answer, 'messaging').paymentIntents.create(payment)).toHaveProperty('id');
  });
});

describe('paymentIntents.create with an OK that proves nothing (protocol 5)', () => {
  const exists = Uint8Array.of(0x08, 0x01);
  const absent = new Uint8Array();

  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  /** Answers createIntent with an empty OK, and getStatus with `statusAt` of the time since the start. */
  function clientWith(statusAt: (ms: number) => Uint8Array | Promise<Uint8Array>, dialect: Dialect = 'intents') {
    const startMs = performance.now();
    const askedAtMs: number[] = [];
    const call: Transport['call'] = async ({ method }) => {
      const ms = Math.round(performance.now() - startMs);
      if (method !== 'getStatus') return absent;
      askedAtMs.push(ms);
      return statusAt(ms);
    };
    const transport = { call, close: async () => undefined };
    return { client: createIntentClient({ transport, dialect, timeoutMs: 3_000 }), askedAtMs };
  }

  async function outcomeOf(created: Promise<unknown>, waitMs = 3_000): Promise<unknown> {
    const code = created.then(
      () => 'created',
      (error) => error?.code ?? error,
    );
    await jest.advanceTimersByTimeAsync(waitMs);
    return code;
  }

  it('requests the status again while a replica lags behind, with growing pauses', async () => {
    const { client, askedAtMs } = clientWith((ms) => (ms < 400 ? absent : exists));
    expect(await outcomeOf(client.paymentIntents.create(payment), 700)).toBe('created');
    expect(askedAtMs).toEqual([0, 100, 300, 700]);
  });

  it.each<Dialect>(['intents', 'messaging'])(
    'rejects in dialect %s with sequencer_bad_response after timeoutMs if the intent never exists',
    async (dialect) => {
      const { client, askedAtMs } = clientWith(() => absent, dialect);
      expect(await outcomeOf(client.paymentIntents.create(payment))).toBe('sequencer_bad_response');
      expect(askedAtMs).toEqual([0, 100, 300, 700, 1_500, 2_500]);
    },
  );

  it.each([
    ['sequencer_timeout, if no status was answered', 0, 'sequencer_timeout'],
    ['sequencer_bad_response, if a status said no', 100, 'sequencer_bad_response'],
  ])('rejects after timeoutMs, while a status hangs, with %s', async (_name, hangsFromMs, code) => {
    const { client } = clientWith((ms) => (ms < hangsFromMs ? absent : new Promise(() => undefined)));
    expect(await outcomeOf(client.paymentIntents.create(payment))).toBe(code);
  });

  it.each(['signal', 'cancelBeforeSend'])('ends between two requests when %s is aborted', async (name) => {
    const controller = new AbortController();
    const { client, askedAtMs } = clientWith(() => absent);
    const created = client.paymentIntents.create(payment, { [name]: controller.signal });
    setTimeout(() => controller.abort('left'), 150);
    expect(await outcomeOf(created, 150)).toBe('left');
    expect(askedAtMs).toEqual([0, 100]);
  });

  it('with prepare() requests the status again, too', async () => {
    const { client, askedAtMs } = clientWith((ms) => (ms < 50 ? absent : exists));
    const prepared = await client.paymentIntents.prepare(payment);
    expect(await outcomeOf(prepared.create(), 100)).toBe('created');
    expect(askedAtMs).toEqual([0, 100]);
  });
});

describe('loginIntents.getUserId', () => {
  const getUserId = (answer: number[]) =>
    clientOf(Uint8Array.from(answer)).loginIntents.getUserId({ intent: id, verifier });

  it.each([
    [1, 'REQUEST_NOT_FOUND', 'intent_not_found'],
    [2, 'LOGIN_NOT_SUPPORTED', 'not_supported'],
    [3, 'NO_USER_LOGGED_IN', 'login_pending'],
    [4, 'which has no name', 'sequencer_error'],
  ])(
    'with result %d, %s, rejects with %s even when a user id follows (interface 4.7, protocol 5)',
    async (result, _name, code) => {
      expect(await rejectedCode(getUserId([0x08, result, ...userIdOf(32)]))).toBe(code);
    },
  );

  it.each([0, 31, 33, 64])(
    'with OK and a user id of %d bytes rejects with sequencer_bad_response (interface 8)',
    async (length) => {
      expect(await rejectedCode(getUserId([0x08, 0x00, ...userIdOf(length)]))).toBe('sequencer_bad_response');
    },
  );

  it('with OK and no user id rejects with sequencer_bad_response', async () => {
    expect(await rejectedCode(getUserId([]))).toBe('sequencer_bad_response');
  });

  it('with OK and a user id of 32 bytes returns the user id (interface 4.7)', async () => {
    const userId = [0x12, 0x22, 0x0a, 0x20, ...new Array<number>(32).fill(0)];
    expect(await getUserId(userId)).toEqual({ userId: '1'.repeat(32) });
  });
});

describe('paymentIntents.getStatus', () => {
  const getStatus = (answer: string) => clientOf(Buffer.from(answer, 'hex')).paymentIntents.getStatus(id);

  it('decodes the test vector (protocol 7)', async () => {
    expect(await getStatus('080110011801')).toEqual({ exists: true, codeScanned: true, intentSubmitted: true });
  });

  it('rejects an undecodable response with sequencer_bad_response', async () => {
    expect(await rejectedCode(getStatus('ffffffff'))).toBe('sequencer_bad_response');
  });
});
