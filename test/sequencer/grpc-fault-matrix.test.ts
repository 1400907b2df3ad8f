import { inspect } from 'node:util';
import { SequencerError } from '../../src/index.js';
import { signPaymentIntent } from '../../src/intents/payment-intent.js';
import type { SignedIntent } from '../../src/intents/signed-intent.js';
import { createSigner, generateKey } from '../../src/keys/verifier-key.js';
import { createIntent, getStatus, getUserId } from '../../src/sequencer/calls.js';
import { createGrpcTransport } from '../../src/sequencer/grpc-transport.js';
import type { Transport } from '../../src/sequencer/transport.js';
import { type Sequencer, startSequencer } from '../../src/testing.js';
import { type Operation, operations } from '../../src/wire/envelope.js';
import { grpcPath } from '../../src/wire/grpc-path.js';
import { canary } from '../support/sequencers/fault-sequencer.js';
import {
  type GrpcBehaviour,
  type GrpcFaultServer,
  grpcOk,
  grpcUrlOfNobody,
  startGrpcFaultServer,
} from '../support/sequencers/grpc-fault-server.js';
import {
  type GrpcFault,
  grpcAnswerFaults,
  grpcConnectionFaults,
  grpcGarbage,
} from '../support/sequencers/grpc-faults.js';

// Every call meets every fault, at every moment at which it can: before the call is sent, when it has come in, and when
// the service has already done what it was asked.

/**
 * Of calls that nothing but the time ends, and long enough for one that is well on a busy machine; the others would need it
 * only on one that is busier still, and have more of it.
 */
const timeoutOf = ({ code }: Pick<GrpcFault, 'code'>): number => (code === 'sequencer_timeout' ? 600 : 5_000);
/** Well above the time-out and what a busy machine adds to it. */
const patienceMs = 9_000;

const verifier = createSigner(generateKey().secret);
const id = generateKey().publicKey;

/** A call, and the intent whose secret it could give away. */
interface Cell {
  readonly transport: Transport;
  readonly intent: SignedIntent;
}

const calls: Record<string, (cell: Cell) => Promise<unknown>> = {
  createIntent: ({ transport, intent }) => createIntent(transport, 'intents', intent),
  getStatus: ({ transport }) => getStatus(transport, id),
  getUserId: ({ transport }) => getUserId(transport, id, verifier),
};

let sequencer: Sequencer;
const unhandled: unknown[] = [];
const noteUnhandled = (reason: unknown): void => void unhandled.push(reason);

beforeAll(async () => {
  sequencer = await startSequencer();
  process.on('unhandledRejection', noteUnhandled);
});
afterAll(async () => {
  process.off('unhandledRejection', noteUnhandled);
  await sequencer.close();
});
afterEach(() => {
  expect(unhandled.splice(0)).toEqual([]);
});

/** Lets the call have its effect first, on a sequencer that is well. */
function afterEffect({ answer }: GrpcFault): GrpcBehaviour {
  const byPath = new Map(
    Object.values(operations).map((operation): [string, Operation] => [grpcPath(operation), operation]),
  );
  return {
    answer: async (answering) => {
      const operation = byPath.get(answering.call.path);
      if (operation) await sequencer.transport.call(operation, answering.call.body);
      answer?.(answering);
    },
  };
}

const moments: [string, Readonly<Record<string, GrpcFault>>, (fault: GrpcFault) => GrpcBehaviour, sent: number][] = [
  ['before it is sent', grpcConnectionFaults, (fault) => fault, 0],
  ['when it has come in', { ...grpcAnswerFaults, 'garbage for a message': grpcGarbage }, (fault) => fault, 1],
  ['when it has had its effect', { ...grpcAnswerFaults, 'garbage for a message': grpcGarbage }, afterEffect, 1],
];

describe.each(moments)('a call that meets it %s', (moment, faults, behaviourOf, sent) => {
  it.each(Object.entries(faults))('%s: the code says so, in time, and the next call is fine', async (_name, fault) => {
    await Promise.all(Object.values(calls).map((call) => meet(call, fault, behaviourOf(fault))));
  });

  async function meet(call: (cell: Cell) => Promise<unknown>, fault: GrpcFault, behaviour: GrpcBehaviour) {
    const server = await startGrpcFaultServer(behaviour);
    const transport = createGrpcTransport({ url: server.url, timeoutMs: timeoutOf(fault) });
    const intent = await signPaymentIntent({ destination: generateKey().publicKey, amount: '1.00', currency: 'usd' });
    try {
      const begun = performance.now();
      const error = await errorOf(call({ transport, intent }));
      expect(performance.now() - begun).toBeLessThan(patienceMs);
      expectFault(error, fault, intent);
      expect(server.calls).toHaveLength(sent);
      const { exists } = await getStatus(sequencer.transport, intent.id);
      expect(exists).toBe(moment === 'when it has had its effect' && call === calls.createIntent);

      server.behave(grpcOk(Buffer.from('080110011801', 'hex')));
      expect(await getStatus(transport, id)).toEqual({ exists: true, codeScanned: true, intentSubmitted: true });
    } finally {
      await end(transport, server);
    }
  }
});

describe('a stream that meets it', () => {
  it.each(Object.entries({ ...grpcConnectionFaults, ...grpcAnswerFaults }))(
    '%s: throws, waits until it is left, or ends',
    async (_name, fault) => {
      const server = await startGrpcFaultServer(fault);
      const timeoutMs = timeoutOf(fault.stream === 'waits' ? { code: 'sequencer_timeout' } : fault);
      const transport = createGrpcTransport({ url: server.url, timeoutMs });
      const leaving = new AbortController();
      const intent = await signPaymentIntent({ destination: generateKey().publicKey, amount: '1.00', currency: 'usd' });
      try {
        const error = errorOf(readAll(transport, leaving.signal));
        if (fault.stream === 'waits') {
          setTimeout(() => leaving.abort('left'), timeoutMs * 1.5);
          expect(await error).toBe('left');
        } else if (fault.stream === 'ends') {
          expect(await error).toBe(wentWell);
        } else {
          expectFault(await error, fault, intent);
        }

        // The OK of a call is one of a stream as well.
        server.behave(grpcOk(Buffer.from('0a00', 'hex')));
        if (fault.isDeaf) await expect(getStatus(transport, id)).rejects.toMatchObject({ code: 'sequencer_timeout' });
        expect(await errorOf(readAll(transport, AbortSignal.timeout(patienceMs)))).toBe(wentWell);
      } finally {
        await end(transport, server);
      }
    },
  );
});

it.each(Object.entries(calls))('%s tells that nobody listens, and goes on when somebody does', async (_name, call) => {
  const url = await grpcUrlOfNobody();
  const refused = { code: 'sequencer_unreachable' } as const;
  const transport = createGrpcTransport({ url, timeoutMs: timeoutOf(refused) });
  const intent = await signPaymentIntent({ destination: generateKey().publicKey, amount: '1.00', currency: 'usd' });
  for (let n = 0; n < 3; n += 1) {
    const begun = performance.now();
    expectFault(await errorOf(call({ transport, intent })), refused, intent);
    // At once: nobody is waited for who refuses.
    expect(performance.now() - begun).toBeLessThan(patienceMs);
  }
  const revived = await startSequencer({ grpcPort: Number(new URL(url).port) });
  expect(await getStatus(transport, id)).toMatchObject({ exists: false });
  await transport.close();
  await revived.close();
});

async function readAll(transport: Transport, signal: AbortSignal): Promise<void> {
  for await (const _answer of transport.openStream?.(operations.openMessageStream, new Uint8Array(), { signal }) ??
    []) {
    // What it is does not matter here.
  }
}

const wentWell = new Error('It went well.');

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => wentWell,
    (error) => error,
  );
}

function expectFault(error: unknown, { code, httpStatus }: Partial<GrpcFault>, { clientSecret }: SignedIntent): void {
  expect(error).toBeInstanceOf(SequencerError);
  const { message, title, serviceMessage, ...told } = error as SequencerError;
  // A refusal of a create is one of this very intent.
  const codes = code === 'sequencer_error' ? [code, 'intent_refused'] : [code];
  expect(told).toMatchObject({ name: 'SequencerError', httpStatus });
  expect(codes).toContain(told.code);
  expect(message + title).not.toContain('canary');
  expect(serviceMessage).toBe(code === 'sequencer_error' ? canary : undefined);
  const shown = inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true, maxArrayLength: null });
  expect(shown).not.toContain(clientSecret);
}

async function end(transport: Transport, server: GrpcFaultServer): Promise<void> {
  await transport.close();
  await server.close();
}
