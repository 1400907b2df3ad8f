import bs58 from 'bs58';
import { type IntentEvent, SequencerError } from '../../../src/index.js';
import { keyPairFromSeed } from '../../../src/keys/ed25519.js';
import { watchIntent } from '../../../src/sequencer/watch/watch-intent.js';
import type { v1 } from '../../../src/wire/codec.js';
import { FakeClock, settled } from './fake-clock.js';
import { clientSecret, id, message, rendezvous, ScriptedTransport } from './scripted-transport.js';

let clock: FakeClock;
let transport: ScriptedTransport;
let abort: AbortController;

beforeEach(() => {
  clock = new FakeClock();
  transport = new ScriptedTransport(clock.now);
  abort = new AbortController();
});
// Every test ends without pending timers.
afterEach(async () => {
  abort.abort();
  await settled();
  expect(clock.pending).toBe(0);
});

interface Watching {
  readonly events: IntentEvent[];
  readonly over: Promise<unknown>;
  isOver: boolean;
  readonly kinds: string[];
}

function watch(intent: { id: string; clientSecret?: string } = { id, clientSecret }): Watching {
  const events: IntentEvent[] = [];
  const read = async (): Promise<void> => {
    for await (const event of watchIntent(transport, { clock })(intent, { signal: abort.signal })) events.push(event);
  };
  const over = read().then(
    () => 'the end',
    (error: unknown) => error,
  );
  const watching = {
    events,
    over,
    isOver: false,
    get kinds() {
      return events.map(({ kind }) => kind);
    },
  };
  void over.then(() => {
    watching.isOver = true;
  });
  return watching;
}

const scanned = (idByte: number, seconds = 5): v1.Message.$Properties =>
  message(idByte, { codeScanned: { timestamp: { seconds, nanos: 250_000_000 } } }, rendezvous);
const rejected = (idByte: number): v1.Message.$Properties =>
  message(idByte, { clientRejectedLogin: { timestamp: { seconds: 7 } } }, rendezvous);
const submitted = (idByte: number): v1.Message.$Properties =>
  message(idByte, { intentSubmitted: { intentId: { value: rendezvous.publicKey } } });
const idOf = (idByte: number): string => bs58.encode(new Uint8Array(16).fill(idByte));
const down = new SequencerError('sequencer_unreachable', 'The sequencer cannot be reached.');

describe('with a stream', () => {
  test('yields the events, and ends with the submitted status', async () => {
    const watching = watch();
    await settled();
    expect([transport.streams.length, transport.statusCallsAtMs]).toEqual([1, [0]]);
    transport.stream.send(scanned(1), rejected(2));
    transport.stream.send(message(3, { webhookCalled: { timestamp: { seconds: 9 } } }));
    transport.stream.send(message(4, { airdropReceived: {} }));
    await settled();
    expect(watching.events).toEqual([
      { kind: 'code_scanned', id: 'code_scanned', timestampMs: 5_250 },
      { kind: 'client_rejected_login', id: idOf(2), timestampMs: 7_000 },
      { kind: 'webhook_called', id: idOf(3), timestampMs: 9_000 },
      { kind: 'airdrop_received', id: idOf(4) },
    ]);
    transport.status = { exists: true, codeScanned: true, intentSubmitted: true };
    transport.stream.send(submitted(5));
    expect(await watching.over).toBe('the end');
    expect(watching.events.slice(4)).toEqual([{ kind: 'intent_submitted', id: 'intent_submitted' }]);
    expect(transport.stream.isLeft).toBe(true);
    expect(transport.streams).toHaveLength(1);
  });

  const stranger = keyPairFromSeed(new Uint8Array(32).fill(9));
  test.each<[string, v1.Message.$Properties]>([
    ['intent_submitted with the signature of a client', message(1, { intentSubmitted: {} }, rendezvous)],
    ['webhook_called with the signature of a client', message(1, { webhookCalled: {} }, rendezvous)],
    [
      'intent_submitted of another intent',
      message(1, { intentSubmitted: { intentId: { value: stranger.publicKey } } }),
    ],
    ['code_scanned signed by another key', message(1, { codeScanned: {} }, stranger)],
    ['a signature of nothing', { ...message(1, { clientRejectedLogin: {} }), sendMessageRequestSignature: {} }],
    [
      'a signature of something else',
      { ...message(1, { codeScanned: {} }, rendezvous), codeScanned: { timestamp: { seconds: 1 } } },
    ],
    [
      'a rejection of another intent',
      message(1, { clientRejectedPayment: { intentId: { value: stranger.publicKey } } }, rendezvous),
    ],
    ['a message without an id', { codeScanned: {} }],
    ['the request itself', message(1, { requestToLogin: {} }, rendezvous)],
  ])('yields nothing for %s', async (_name, hostile) => {
    const watching = watch();
    await settled();
    transport.stream.send(hostile);
    await settled();
    expect([watching.events, transport.statusCallsAtMs]).toEqual([[], [0]]);
    // A valid message is still read.
    transport.stream.send(rejected(1));
    await settled();
    expect(watching.kinds).toEqual(['client_rejected_login']);
  });

  test('verifies a bounded number of forged signatures, and still reads the messages of the service', async () => {
    const watching = watch();
    await settled();
    const forged = { ...rejected(1), sendMessageRequestSignature: { value: new Uint8Array(64) } };
    for (let sent = 0; sent < 255; sent += 1) transport.stream.send(forged);
    transport.stream.send(rejected(2));
    transport.stream.send(forged);
    transport.stream.send(rejected(3));
    transport.stream.send(message(4, { webhookCalled: {} }));
    await settled();
    expect(watching.events.map((event) => event.id)).toEqual([idOf(2), idOf(4)]);
  });

  test('closes a stream that never stops sending, and reopens it later', async () => {
    const watching = watch();
    await settled();
    for (let sent = 0; sent < 1_023; sent += 1) transport.stream.send(rejected(1));
    await settled();
    expect([transport.streams.length, transport.stream.isLeft]).toEqual([1, false]);
    transport.stream.send(rejected(1));
    await settled();
    expect(transport.stream.isLeft).toBe(true);
    await clock.pass(10_000);
    expect(transport.streams).toHaveLength(2);
    expect(watching.kinds).toEqual(['client_rejected_login']);
  });

  test('polls the status with growing intervals, so a stream that stopped responding is noticed', async () => {
    const watching = watch();
    await clock.pass(300_000);
    expect(transport.streams).toHaveLength(1);
    expect(transport.statusCallsAtMs.slice(0, 5)).toEqual([0, 1_000, 2_500, 4_750, 8_125]);
    expect(transport.statusCallsAtMs.length).toBeLessThan(20);
    transport.status = { exists: true, intentSubmitted: true };
    await clock.pass(30_000);
    expect(watching.kinds).toEqual(['intent_submitted']);
  });
});

describe('when the stream breaks', () => {
  test.each<[string, Partial<ScriptedTransport>]>([
    ['breaks at once', { onOpen: (stream) => stream.end({ error: down }) }],
    ['brings what cannot be read', { onOpen: (stream) => stream.sendBytes(Uint8Array.of(0xff)) }],
    [
      'cannot be opened',
      {
        onOpen: () => {
          throw down;
        },
      },
    ],
  ])('is retried with backoff for an hour in which every stream %s', async (_name, fault) => {
    Object.assign(transport, fault);
    for (const chance of [0.5, 0.999]) {
      clock.chance = chance;
      transport.streams.length = 0;
      transport.statusCallsAtMs.length = 0;
      abort = new AbortController();
      watch();
      await clock.pass(3_600_000);
      // The longest delay is 15 s to the next opening, and 5 s to the next poll.
      expect(transport.streams.length).toBeLessThan(3_600 / (10 * chance) + 10);
      expect(transport.streams.length).toBeGreaterThan(3_600 / 10 - 10);
      expect(transport.statusCallsAtMs.length).toBeLessThan(2 * (3_600 / 5) + 20);
      const pauses = transport.statusCallsAtMs
        .slice(1)
        .map((at, index) => at - (transport.statusCallsAtMs[index] ?? 0));
      expect(Math.max(...pauses)).toBeLessThanOrEqual(5_000);
      abort.abort();
      await settled();
    }
  });
});

describe('without a stream', () => {
  test('polls after 1 s, then with growing intervals up to 5 s, and again after 1 s when the code was scanned', async () => {
    const watching = watch({ id });
    await clock.pass(30_000);
    expect(transport.statusCallsAtMs).toEqual([0, 1_000, 2_500, 4_750, 8_125, 13_125, 18_125, 23_125, 28_125]);
    transport.status = { exists: true, codeScanned: true };
    await clock.pass(5_000);
    expect(watching.kinds).toEqual(['code_scanned']);
    // A payment follows a scan soon, so polls restart with the short interval.
    const { length } = transport.statusCallsAtMs;
    await clock.pass(1_500);
    expect(transport.statusCallsAtMs.length).toBeGreaterThan(length);
    transport.status = { exists: true, codeScanned: true, intentSubmitted: true };
    await clock.pass(5_000);
    expect(watching.kinds).toEqual(['code_scanned', 'intent_submitted']);
    expect(transport.streams).toHaveLength(0);
  });
});

describe('an error', () => {
  test.each<[string, { id: string; clientSecret?: string }, string]>([
    ['an invalid id', { id: 'x' }, 'invalid_id'],
    ['an invalid secret', { id, clientSecret: 'x' }, 'invalid_client_secret'],
    [
      'a secret of another intent',
      { id: bs58.encode(new Uint8Array(32).fill(1)), clientSecret },
      'invalid_client_secret',
    ],
  ])('%s ends a watch before anything is sent', async (_name, intent, code) => {
    const error = await watch(intent).over;
    expect(error).toMatchObject({ code });
    expect(String((error as Error).stack)).not.toContain(clientSecret);
    expect([transport.statusCallsAtMs, transport.streams]).toEqual([[], []]);
  });

  test('that is not of the service is thrown', async () => {
    transport.status = new TypeError('a bug');
    expect(await watch().over).toBe(transport.status);
    expect(transport.stream.isLeft).toBe(true);
  });
});

describe('an abort', () => {
  test.each<[string, (begin: () => Watching) => Promise<Watching>]>([
    [
      'before it begins',
      async (begin) => {
        abort.abort();
        return begin();
      },
    ],
    ['during a status call', async (begin) => begin()],
    [
      'during a stream',
      async (begin) => {
        const watching = begin();
        await clock.pass(5_000);
        return watching;
      },
    ],
  ])('%s ends the watch, and leaves no timer or listener', async (_name, begin) => {
    const watching = await begin(() => watch());
    abort.abort(new Error('enough'));
    expect(await watching.over).toBe('the end');
    expect(transport.streams.every(({ stream }) => stream.isLeft)).toBe(true);
    expect(clock.pending).toBe(0);
  });
});
