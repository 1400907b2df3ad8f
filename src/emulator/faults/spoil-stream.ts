import type { SettledFault } from './fault.js';
import type { FaultKind } from './fault-kinds.js';
import { noise, sayNo } from './spoil-envelope.js';
import { waitFor } from './wait-for.js';

type Envelopes = AsyncIterable<Uint8Array>;
type Spoiler = (envelopes: Envelopes, fault: SettledFault, signal: AbortSignal) => Envelopes;

/** What the envelopes of a stream become, one message in each. */
const spoilers = {
  // The first message, and then no goodbye; whoever carries the stream leaves that out.
  async *cut(envelopes) {
    for await (const envelope of envelopes) return yield envelope;
  },
  async *delay(envelopes, { ms }, signal) {
    for await (const envelope of envelopes) {
      if (!(await waitFor(ms, signal))) return;
      yield envelope;
    }
  },
  async *error() {
    yield sayNo();
  },
  async *garble(envelopes) {
    for await (const envelope of envelopes) yield noise(envelope);
  },
  async *duplicate(envelopes) {
    for await (const envelope of envelopes) {
      yield envelope;
      yield envelope;
    }
  },
  // Each second message overtakes the one before, which is held back until then.
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
} satisfies Partial<Record<FaultKind, Spoiler>>;

/** The kinds that a stream can have: these, and those that happen before there is one. */
export const streamFaultKinds: readonly FaultKind[] = ['refuse', 'status', ...(Object.keys(spoilers) as FaultKind[])];

/** Spoils the envelopes of a stream, until `signal` is aborted. */
export function spoilStream(envelopes: Envelopes, fault: SettledFault | undefined, signal: AbortSignal): Envelopes {
  const spoiler: Spoiler | undefined = fault && (spoilers as Partial<Record<FaultKind, Spoiler>>)[fault.kind];
  return fault && spoiler ? spoiler(envelopes, fault, signal) : envelopes;
}
