import { IntentError, type IntentErrorCode } from '../../../src/errors.js';
import { parseClientSecret, rendezvousKeyPair } from '../../../src/intents/payload.js';
import { createIntentClient, type IntentClient } from '../../../src/sequencer/intent-client.js';
import type { Fault, FaultKind, SequencerOperation, Simulator } from '../../../src/simulator/index.js';
import { encodeRequest, operations } from '../../../src/wire/envelope.js';
import {
  closeAll,
  create,
  createBody,
  created,
  destination,
  keyPair,
  kindsOf,
  opened,
  payment,
  poll,
  post,
  reason,
  start,
  statusFlags,
  submitAs,
} from '../fixture.js';

const clients: IntentClient[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await closeAll();
});

function clientOf({ url }: Simulator, timeoutMs?: number): IntentClient {
  const client = createIntentClient({ url, timeoutMs });
  clients.push(client);
  return client;
}

const terms = { destination, amount: '12.50', currency: 'usd' };
const codeOf = (error: unknown): IntentErrorCode | undefined => (error instanceof IntentError ? error.code : undefined);

/** The error code of the client for each kind. Kinds with a correct response are below. */
const codes: [Exclude<Fault, { kind: 'duplicate' | 'reorder' }>, IntentErrorCode][] = [
  [{ kind: 'disconnect' }, 'sequencer_unreachable'],
  [{ kind: 'cut' }, 'sequencer_unreachable'],
  [{ kind: 'delay', ms: 60_000 }, 'sequencer_timeout'],
  [{ kind: 'drip', ms: 60_000 }, 'sequencer_timeout'],
  [{ kind: 'error' }, 'sequencer_error'],
  [{ kind: 'status' }, 'sequencer_bad_status'],
  [{ kind: 'status', httpStatus: 500 }, 'sequencer_bad_status'],
  [{ kind: 'redirect' }, 'sequencer_bad_status'],
  [{ kind: 'wrong-content-type' }, 'sequencer_bad_response'],
  [{ kind: 'garble' }, 'sequencer_bad_response'],
  [{ kind: 'flood' }, 'sequencer_bad_response'],
];

describe('the error code of the client, and recovery after the fault (interface 7)', () => {
  test.each(codes)('%j of createIntent: %s', async (fault, code) => {
    const simulator = await start();
    const client = clientOf(simulator);
    const failing = code === 'sequencer_timeout' ? clientOf(simulator, 200) : client;
    const end = simulator.injectFault({ ...fault, operations: ['createIntent'] });
    const error = await failing.paymentIntents.create(terms).catch((thrown) => thrown);
    // A refused create has a code of its own.
    expect(codeOf(error)).toBe(code === 'sequencer_error' ? 'intent_refused' : code);
    end();
    const { id } = await client.paymentIntents.create(terms);
    expect(await client.paymentIntents.getStatus(id)).toMatchObject({ exists: true });
  });
});

describe('the setting `when`', () => {
  const failing = [
    'disconnect',
    'cut',
    'error',
    'status',
    'redirect',
    'wrong-content-type',
    'garble',
    'flood',
  ] as const satisfies FaultKind[];

  test.each(failing)('%s: before the effect by default, after it with `after`', async (kind) => {
    const simulator = await start();
    for (const when of [undefined, 'before', 'after'] as const) {
      const intent = await payment();
      const end = simulator.injectFault({ kind, operations: ['createIntent'], when });
      const answer = await post(simulator.url, encodeRequest(operations.createIntent, createBody(intent))).catch(
        () => undefined,
      );
      await answer?.body?.cancel().catch(() => undefined);
      end();
      expect([when, (await statusFlags(simulator.url, intent.id))[0]]).toEqual([when, when === 'after']);
    }
  });
});

describe('kinds with a correct response', () => {
  test('delay and drip end in a correct response', async () => {
    const simulator = await start();
    for (const fault of [
      { kind: 'delay', ms: 5 },
      { kind: 'drip', ms: 1 },
    ] as const) {
      const end = simulator.injectFault(fault);
      const intent = await payment();
      opened(await create(simulator.url, intent));
      expect(await statusFlags(simulator.url, intent.id)).toEqual([true, false, false]);
      end();
    }
  });

  test('forget: createIntent answers OK, and the intent is unknown', async () => {
    const simulator = await start();
    const client = clientOf(simulator);
    simulator.injectFault({ kind: 'forget', operations: ['createIntent'], times: 1 });
    const { id } = await client.paymentIntents.create(terms);
    expect(await client.paymentIntents.getStatus(id)).toMatchObject({ exists: false });
    const next = await client.paymentIntents.create(terms);
    expect(await client.paymentIntents.getStatus(next.id)).toMatchObject({ exists: true });
  });

  test.each<[SequencerOperation, (url: string, intent: { id: string; clientSecret: string }) => Promise<unknown>]>([
    ['getStatus', (url, { id }) => statusFlags(url, id)],
    ['pollMessages', (url, { clientSecret }) => poll(url, rendezvousKeyPair(parseClientSecret(clientSecret)))],
    ['submitPayment', (url, { id }) => submitAs(url, id, keyPair(1))],
  ])('forget by %s: the named intent is forgotten, others are not', async (operation, ask) => {
    const simulator = await start();
    const [intent, other] = [await created(simulator.url, payment()), await created(simulator.url, payment())];
    simulator.injectFault({ kind: 'forget', operations: [operation], times: 1 });
    await ask(simulator.url, intent);
    expect((await statusFlags(simulator.url, intent.id))[0]).toBe(false);
    expect((await statusFlags(simulator.url, other.id))[0]).toBe(true);
  });

  test('duplicate and reorder change the messages of pollMessages while they are active', async () => {
    const simulator = await start();
    const { clientSecret } = await created(simulator.url, payment());
    await simulator.wallet().pay(clientSecret);
    const rendezvous = rendezvousKeyPair(parseClientSecret(clientSecret));
    const ids = async (): Promise<string[]> =>
      (await poll(simulator.url, rendezvous)).map(({ id }) => Buffer.from(id?.value ?? []).toString('hex'));
    const [a, b, c] = await ids();
    expect(kindsOf(await poll(simulator.url, rendezvous))).toEqual([
      'requestToReceiveBill',
      'codeScanned',
      'intentSubmitted',
    ]);
    const endDuplicate = simulator.injectFault({ kind: 'duplicate' });
    expect(await ids()).toEqual([a, a, b, b, c, c]);
    endDuplicate();
    simulator.injectFault({ kind: 'reorder', times: 1 });
    expect(await ids()).toEqual([c, b, a]);
    expect(await ids()).toEqual([a, b, c]);
  });
});

describe('the calls that a fault applies to', () => {
  test('times counts the failed calls only', async () => {
    const simulator = await start();
    const { url } = simulator;
    simulator.injectFault({ kind: 'error', operations: ['createIntent'], times: 2 });
    const intent = await payment();
    for (let n = 0; n < 2; n += 1) {
      expect((await statusFlags(url, intent.id))[0]).toBe(false);
      expect(reason(await create(url, intent))).toBe('A fault was injected: error.');
    }
    opened(await create(url, intent));
  });
});

describe('an invalid fault is refused with the reason', () => {
  test.each<[unknown, RegExp]>([
    [{ kind: 'explode' }, /`kind`: .*"disconnect"/],
    [{ kind: 'disconnect', operation: 'getStatus' }, /operation/],
    [{ kind: 'disconnect', operations: ['getStatus', 'fly'] }, /`operations.1`: .*"createIntent"/],
    [{ kind: 'disconnect', times: 0 }, /`times`: /],
    [{ kind: 'delay', ms: 0 }, /`ms`: /],
    [{ kind: 'disconnect', ms: 10 }, /disconnect does not accept `ms`\. Remove it\.$/],
    [
      { kind: 'duplicate', operations: ['getStatus'] },
      /duplicate applies only to pollMessages and openMessageStream\. Remove getStatus\.$/,
    ],
    [{ kind: 'status', httpStatus: 200 }, /`httpStatus`: /],
  ])('%j', async (fault, message) => {
    const simulator = await start();
    const refused = (() => {
      try {
        simulator.injectFault(fault as Fault);
      } catch (error) {
        return error as IntentError;
      }
      return undefined;
    })();
    expect(codeOf(refused)).toBe('invalid_request');
    expect(refused?.message).toMatch(message);
    await created(simulator.url, payment());
  });
});
