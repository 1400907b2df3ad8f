import type { Transport } from '../../src/sequencer/transport.js';
import type { InProcessTransport } from '../../src/testing.js';
import { encode, v1 } from '../../src/wire/codec.js';
import { operations } from '../../src/wire/envelope.js';
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

/** What the front does with one stream beside what it is told to. */
export interface Relaying {
  readonly upstream: StreamUpstream;
  /** The request as it came. */
  readonly body: Uint8Array;
  readonly send: (response: Uint8Array) => void;
  readonly rewrite?: ((responses: Responses) => Responses) | undefined;
  /** Called after the first message; when it says so, no other follows. */
  readonly afterFirst?: (() => 'enough' | undefined) | undefined;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
}

/** Hands a stream of the real sequencer on. Says whether it came to its end. */
export async function relay({ upstream, body, send, rewrite, afterFirst, signal }: Relaying): Promise<boolean> {
  const responses = upstream.transport.openStream(operations.openMessageStream, body, { signal });
  let isFirst = true;
  try {
    for await (const response of rewrite ? rewrite(responses) : responses) {
      send(response);
      if (isFirst && afterFirst?.() === 'enough') return false;
      isFirst = false;
    }
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** Faults that lie in what is delivered, on every way. */
export const rewrites: Readonly<Record<string, (responses: Responses) => Responses>> = {
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
