import type { Transport } from '../../../src/sequencer/transport.js';
import type { InProcessTransport } from '../../../src/testing.js';
import { encode, v1 } from '../../../src/wire/codec.js';
import { operations } from '../../../src/wire/envelope.js';
import type { Phase } from './fault-way.js';

/** The messages of one stream, each serialized as the service gives it. */
export type Responses = AsyncIterable<Uint8Array>;

/** What a fault of a stream does, whatever way it came. */
export interface StreamFaultTraits {
  /** When it can strike. */
  readonly phases: readonly Phase[];
  /** Whether the stream is over by it, so that it is opened again. */
  readonly ends: boolean;
  /** Whether calls over the same connection are hurt as well, as long as it lasts. */
  readonly hurtsCalls: boolean;
}

/** A line to a sequencer whose streams can be spoilt. */
export interface StreamLine {
  /** A transport over this line, as the package makes it for this way. Closed with the line. */
  readonly transport: Transport;
  /** How often the fault struck. */
  readonly struck: number;
  /** Streams that are open on the other side. */
  readonly openStreams: number;
  /** Sockets that are open on the other side. */
  readonly openSockets: number;
  /** Puts a fault on all streams, and with `isDown` on the calls beside them as well. */
  strike(fault: string, phase: Phase, isDown: boolean): void;
  /** Everything is fine from now on. */
  lift(): void;
  close(): Promise<void>;
}

/** A way to the streams of the service, and all that can go wrong on it. */
export interface StreamWay {
  readonly name: string;
  readonly faults: Readonly<Record<string, StreamFaultTraits>>;
  /** @param upstream what is not spoilt goes there */
  openLine(upstream: StreamUpstream): Promise<StreamLine>;
}

/** A real sequencer. */
export interface StreamUpstream {
  readonly url: string;
  readonly transport: InProcessTransport;
}

/** A fault that is on, of whatever way. */
export interface Struck<Fault> {
  readonly fault: Fault;
  readonly phase: Phase;
  readonly isDown: boolean;
}

/** What a fault does to a stream that has been asked for, one or the other. */
interface StreamFault {
  /** When its time has come: at once, or after the first message. */
  readonly act?: unknown;
  /** With what is delivered. */
  readonly rewrite?: (responses: Responses) => Responses;
}

/** One stream on its way from the real sequencer. */
export interface Relaying {
  readonly upstream: StreamUpstream;
  /** The request as it came. */
  readonly body: Uint8Array;
  readonly at: Struck<StreamFault> | undefined;
  /** Lets the fault act. */
  readonly strike: () => void;
  /** Called before the first message. */
  readonly begin?: () => void;
  readonly send: (response: Uint8Array) => void;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
}

/** Hands a stream of the real sequencer on, as far as the fault lets it. Says whether it came to its end. */
export async function relay({ upstream, body, at, strike, begin, send, signal }: Relaying): Promise<boolean> {
  const { act, rewrite } = at?.fault ?? {};
  if (act && at?.phase === 'after send') {
    strike();
    return false;
  }
  if (rewrite) strike();
  begin?.();
  const responses = upstream.transport.openStream(operations.openMessageStream, body, { signal });
  try {
    for await (const response of rewrite ? rewrite(responses) : responses) {
      send(response);
      if (!act) continue;
      strike();
      return false;
    }
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

const rewrites: Readonly<Record<string, (responses: Responses) => Responses>> = {
  'every message twice': async function* (responses) {
    for await (const response of responses) {
      yield response;
      yield response;
    }
  },
  'everything again with each message': async function* (responses) {
    const all: Uint8Array[] = [];
    for await (const response of responses) {
      all.push(response);
      yield* all;
    }
  },
  'messages out of order': async function* (responses) {
    let held: Uint8Array | undefined;
    for await (const response of responses) {
      if (held) {
        yield response;
        yield held;
      }
      held = held ? undefined : response;
    }
    if (held) yield held;
  },
};

/** Faults that lie in what is delivered, on every way. */
export const rewriting = Object.fromEntries(
  Object.entries(rewrites).map(([name, rewrite]) => [
    name,
    { phases: ['after send', 'after effect'], ends: false, hurtsCalls: false, rewrite } as const,
  ]),
);

/** What a front says on its own, on every way; then it falls silent. */
export const sayings: Readonly<Record<string, readonly Uint8Array[]>> = {
  'a claim that all is submitted': [responseOf(9, { intentSubmitted: {} })],
  'a flood of messages that nobody has signed rightly': Array.from({ length: 300 }, (_, n) =>
    responseOf(n % 256, { codeScanned: {}, sendMessageRequestSignature: { value: new Uint8Array(64).fill(7) } }),
  ),
  'messages of nothing': Array.from({ length: 100 }, () => new Uint8Array()),
};

function responseOf(idByte: number, content: v1.Message.$Properties): Uint8Array {
  return encode(v1.OpenMessageStreamResponse, {
    messages: [{ id: { value: new Uint8Array(16).fill(idByte) }, ...content }],
  });
}
