import { createIntentClient, generateKey, type IntentClient, type IntentEvent } from '../../src/index.js';
import { boundedTry } from '../../src/sequencer/bounded-try.js';
import { watchIntent } from '../../src/sequencer/watch-intent.js';
import { type Sequencer, startSequencer } from '../../src/testing.js';
import { type Phase, phases } from '../support/sequencers/fault-way.js';
import { grpcStreamWay } from '../support/sequencers/grpc-stream-way.js';
import type { StreamLine, StreamWay } from '../support/sequencers/stream-way.js';
import { webSocketStreamWay } from '../support/sequencers/websocket-stream-way.js';
import { FastTiming } from './fast-timing.js';

// A watch meets every fault of its stream, at every moment at which it can: before it has asked for the stream, when it
// has, and when something has come. Twice each: the calls for the status go well, or they fail as well until all is well.

/** The ways to the streams. Another one is another line here. */
const ways: readonly StreamWay[] = [webSocketStreamWay, grpcStreamWay];

/** A watch waits a fiftieth of its time here. */
const speed = 50;
/** From when nothing more stands in the way to the end of the watch, on a busy machine too. */
const boundMs = 12_000;
/** For a socket whose other side does not say goodbye. */
const graceMs = 12_000;

const payment = { destination: generateKey().publicKey, amount: '1.00', currency: 'usd' };

let sequencer: Sequencer;
/** A client of the real sequencer, to see what became of things. */
let witness: IntentClient;
const unhandled: unknown[] = [];
const noteUnhandled = (reason: unknown): void => void unhandled.push(reason);

beforeAll(async () => {
  sequencer = await startSequencer();
  witness = createIntentClient({ transport: sequencer.transport });
  process.on('unhandledRejection', noteUnhandled);
});
afterAll(async () => {
  process.off('unhandledRejection', noteUnhandled);
  await sequencer.close();
});

interface Cell {
  readonly way: StreamWay;
  readonly fault: string;
  readonly phase: Phase;
  /** Whether the calls for the status fail as well while the fault lasts. */
  readonly isDown: boolean;
}

/** A watch that runs, and all that it has told. */
interface Watching {
  readonly events: IntentEvent[];
  /** Told that the intent was submitted when it was not. */
  readonly lies: string[];
  readonly isOver: boolean;
  readonly error: unknown;
  /** Timers that it has left. */
  readonly timers: number;
  leave(): void;
}

function watch({ transport }: StreamLine, intent: { id: string; clientSecret: string }): Watching {
  const timing = new FastTiming(speed);
  const leaving = new AbortController();
  const bounded = { ...transport, call: callWithin(transport, 1_000) };
  const state = {
    events: [] as IntentEvent[],
    lies: [] as string[],
    isOver: false,
    error: undefined as unknown,
    get timers() {
      return timing.pending;
    },
    leave: () => leaving.abort(),
  };
  const read = async (): Promise<void> => {
    for await (const event of watchIntent(bounded, { timing })(intent, { signal: leaving.signal })) {
      state.events.push(event);
      if (event.kind !== 'intent_submitted') continue;
      const { intentSubmitted } = await witness.paymentIntents.getStatus(intent.id);
      if (!intentSubmitted) state.lies.push(intent.id);
    }
  };
  void read()
    .catch((error) => {
      state.error = error;
    })
    .finally(() => {
      state.isOver = true;
    });
  return state;
}

/** As a client bounds its calls, but without its breaker, which keeps its own time. */
function callWithin(transport: StreamLine['transport'], timeoutMs: number): StreamLine['transport']['call'] {
  return (operation, body, { signal } = {}) => boundedTry(transport, operation, body, { timeoutMs, signal });
}

async function play({ way, fault, phase, isDown }: Cell): Promise<void> {
  const line = await way.openLine(sequencer);
  const intent = await witness.paymentIntents.create(payment);
  line.strike(fault, phase, isDown);
  const watching = watch(line, intent);
  try {
    await meet({ way, fault, phase, isDown }, line, watching, intent.clientSecret);
    await within(graceMs, 'no stream is left', () => line.openStreams === 0);
    await line.transport.close();
    await within(graceMs, 'no socket is left', () => line.openSockets === 0);
    expect(watching.timers).toBe(0);
  } finally {
    watching.leave();
    await line.transport.close();
    await line.close();
  }
}

async function meet(
  { way, fault, isDown }: Cell,
  line: StreamLine,
  watching: Watching,
  clientSecret: string,
): Promise<void> {
  const { ends, hurtsCalls } = way.faults[fault] ?? {};
  const kinds = (): string[] => watching.events.map(({ kind }) => kind);
  const wallet = sequencer.wallet();
  await within(boundMs, 'the fault strikes', () => line.struck >= 1);
  await wallet.scan(clientSecret);
  await wallet.reject(clientSecret);
  // It is not the end: the stream is opened again, and struck again.
  if (ends) await within(boundMs, 'the fault strikes again', () => line.struck >= 2);
  expect([watching.isOver, watching.error]).toEqual([false, undefined]);
  expect(kinds()).not.toContain('intent_submitted');
  await wallet.pay(clientSecret);
  if (isDown || hurtsCalls) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    // Whatever a stream says: without an answer nobody knows.
    if (isDown) expect([watching.isOver, watching.error, kinds().at(-1)]).not.toContain('intent_submitted');
    line.lift();
  }
  await within(boundMs, 'the watch ends', () => watching.isOver);
  expect([watching.error, watching.lies]).toEqual([undefined, []]);
  expect(kinds().at(-1)).toBe('intent_submitted');
  const ids = watching.events.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)]);
  const known = ['code_scanned', 'client_rejected_payment', 'intent_submitted'];
  expect(kinds().toSorted()).toEqual(known.filter((kind) => kinds().includes(kind)).toSorted());
  expect(kinds()).toContain('code_scanned');
}

async function within(ms: number, what: string, holds: () => boolean): Promise<void> {
  const endMs = performance.now() + ms;
  while (!holds()) {
    if (performance.now() > endMs) throw new Error(`Not within ${ms} ms: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe.each(ways.map((way) => [way.name, way] as const))('a watch over %s', (_name, way) => {
  describe.each(phases.map((phase) => [phase]))('%s', (phase) => {
    const faults = Object.keys(way.faults).filter((fault) => way.faults[fault]?.phases.includes(phase));

    it('meets at least 14 faults', () => {
      expect(faults.length).toBeGreaterThanOrEqual(14);
    });

    it.each([
      ['while calls go well', false],
      ['while calls fail as well, until all is well', true],
    ])(
      'tells each event once and ends with the payment, %s',
      async (_when, isDown) => {
        const failures: string[] = [];
        await Promise.all(
          faults.map((fault) =>
            play({ way, fault, phase, isDown }).catch((error) => void failures.push(`${fault}: ${error.message}`)),
          ),
        );
        expect(failures).toEqual([]);
        expect(unhandled.splice(0)).toEqual([]);
      },
      60_000,
    );
  });
});
