import { SequencerError, type SequencerErrorCode } from '../../../src/errors.js';
import { createHttpTransport } from '../../../src/sequencer/http/http-transport.js';
import { createIntentClient } from '../../../src/sequencer/intent-client.js';
import type { Transport } from '../../../src/sequencer/transport.js';
import { signStreamRequest } from '../../../src/sequencer/watch/message-stream.js';
import type { Fault, Simulator } from '../../../src/simulator/index.js';
import { decode, v1 } from '../../../src/wire/codec.js';
import { operations } from '../../../src/wire/envelope.js';
import { closeAll, destination, kindsOf, start } from '../fixture.js';

const transports: Transport[] = [];
afterEach(async () => {
  await Promise.all(transports.splice(0).map((transport) => transport.close()));
  await closeAll();
});

const ways: [string, (simulator: Simulator) => Transport][] = [
  ['over WebSocket', ({ url }) => createHttpTransport({ url, timeoutMs: 30_000 })],
  ['in process', ({ transport }) => transport],
];

describe.each(ways)('faults of message streams %s', (_way, connect) => {
  /** A sequencer with an intent that was scanned and paid, and a reader of its stream. */
  async function startPaid() {
    const simulator = await start();
    const transport = connect(simulator);
    transports.push(transport);
    const client = createIntentClient({ transport });
    const intent = await client.paymentIntents.create({ destination, amount: 5, currency: 'usd' });
    await simulator.wallet().pay(intent.clientSecret);
    const { body } = signStreamRequest(intent.id, intent.clientSecret);
    const open = (signal?: AbortSignal): AsyncIterable<Uint8Array> => {
      if (!transport.openStream) throw new Error('There are no streams.');
      return transport.openStream(operations.openMessageStream, body, { signal });
    };
    return { simulator, client, intent, open };
  }

  async function read(stream: AsyncIterable<Uint8Array>): Promise<{ kinds: (string | undefined)[]; code?: string }> {
    const kinds: (string | undefined)[] = [];
    try {
      for await (const response of stream) {
        const { messages } = decode(v1.OpenMessageStreamResponse, response);
        kinds.push(...kindsOf(messages.map((message) => new v1.Message(message))));
      }
      return { kinds };
    } catch (error) {
      return { kinds, code: error instanceof SequencerError ? error.code : String(error) };
    }
  }

  const all = ['requestToReceiveBill', 'codeScanned', 'intentSubmitted'];

  test.each<[Fault, string[], SequencerErrorCode | undefined]>([
    [{ kind: 'disconnect' }, [], 'sequencer_unreachable'],
    [{ kind: 'status' }, [], 'sequencer_bad_status'],
    [{ kind: 'error' }, [], 'sequencer_error'],
    [{ kind: 'garble' }, [], 'sequencer_bad_response'],
    [{ kind: 'cut' }, all.slice(0, 1), 'sequencer_unreachable'],
    [{ kind: 'delay', ms: 5 }, all, undefined],
    [{ kind: 'duplicate' }, all.flatMap((kind) => [kind, kind]), undefined],
    [{ kind: 'reorder' }, ['codeScanned', 'requestToReceiveBill', 'intentSubmitted'], undefined],
  ])('%j', async (fault, kinds, code) => {
    const { simulator, open } = await startPaid();
    const end = simulator.injectFault({ ...fault, operations: ['openMessageStream'], times: 1 });
    expect(await read(open())).toEqual({ kinds, ...(code && { code }) });
    end();
    expect(await read(open())).toEqual({ kinds: all });
  });

  test('client.watch survives a broken stream and reports no event twice', async () => {
    const { simulator, client, intent } = await startPaid();
    for (const kind of ['cut', 'duplicate'] as const) {
      simulator.injectFault({ kind, operations: ['openMessageStream'], times: 1 });
    }
    const kinds: string[] = [];
    for await (const { kind } of client.watch(intent)) kinds.push(kind);
    expect(kinds.at(-1)).toBe('intent_submitted');
    expect(new Set(kinds).size).toBe(kinds.length);
  });
});

describe('faults of calls in process cause the same client errors as over HTTP:', () => {
  test.each<[Fault, SequencerErrorCode]>([
    [{ kind: 'disconnect' }, 'sequencer_unreachable'],
    [{ kind: 'cut' }, 'sequencer_unreachable'],
    [{ kind: 'error' }, 'sequencer_error'],
    [{ kind: 'status' }, 'sequencer_bad_status'],
    [{ kind: 'redirect' }, 'sequencer_bad_status'],
    [{ kind: 'wrong-content-type' }, 'sequencer_bad_response'],
    [{ kind: 'garble' }, 'sequencer_bad_response'],
    [{ kind: 'flood' }, 'sequencer_bad_response'],
  ])('%j: %s', async (fault, code) => {
    const simulator = await start();
    const { paymentIntents } = createIntentClient({ transport: simulator.transport });
    const terms = { destination, amount: 5, currency: 'usd' };
    const { id } = await paymentIntents.create(terms);
    const end = simulator.injectFault(fault);
    await expect(paymentIntents.getStatus(id)).rejects.toMatchObject({ code });
    end();
    expect(await paymentIntents.getStatus(id)).toMatchObject({ exists: true });
  });
});
