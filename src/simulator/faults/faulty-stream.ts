import { encodeOkResponse } from '../../wire/envelope.js';
import type { FaultKind, ResolvedFault } from './fault-kinds.js';
import { errorEnvelope, garbageLike, pause } from './faulty-call.js';

type Envelopes = AsyncIterable<Uint8Array>;
type Corruption = (envelopes: Envelopes, fault: ResolvedFault, signal: AbortSignal) => Envelopes;

/** Each kind changes the envelopes of a stream, which carry one message each. */
const corruptions = {
  // Delivers one message. The transport then terminates the stream without a close handshake.
  async *cut(envelopes) {
    for await (const envelope of envelopes) return yield envelope;
  },
  async *delay(envelopes, { ms }, signal) {
    for await (const envelope of envelopes) {
      if (!(await pause(ms, signal))) return;
      yield envelope;
    }
  },
  async *error() {
    yield errorEnvelope();
  },
  async *garble(envelopes) {
    for await (const envelope of envelopes) yield garbageLike(envelope);
  },
  async *duplicate(envelopes) {
    for await (const envelope of envelopes) {
      yield envelope;
      yield envelope;
    }
  },
  async *reorder(envelopes) {
    let held: Uint8Array | undefined;
    for await (const envelope of envelopes) {
      if (held) {
        yield envelope;
        yield held;
      }
      held = held ? undefined : envelope;
    }
    if (held) yield held;
  },
} satisfies Partial<Record<FaultKind, Corruption>>;

/** The kinds that apply to a stream: `disconnect` and `status` fail it before it opens. */
export const streamFaultKinds: readonly FaultKind[] = [
  'disconnect',
  'status',
  ...(Object.keys(corruptions) as FaultKind[]),
];

/** Yields the envelopes of a stream's responses, corrupted by the fault, if any, until `signal` is aborted. */
export function streamEnvelopes(
  responses: AsyncIterable<Uint8Array>,
  fault: ResolvedFault | undefined,
  signal: AbortSignal,
): Envelopes {
  const envelopes = inEnvelopes(responses);
  const corrupt: Corruption | undefined = fault && (corruptions as Partial<Record<FaultKind, Corruption>>)[fault.kind];
  return fault && corrupt ? corrupt(envelopes, fault, signal) : envelopes;
}

async function* inEnvelopes(responses: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const response of responses) yield encodeOkResponse(response);
}
