import { SequencerError } from '../../errors.js';

/** What the end of a try says about the service. */
export type FailureClass = 'alive' | 'failing' | 'unknown';

/**
 * A service is failing if it cannot be reached, does not answer in time, or answers that it fails. A service that refuses, or
 * whose answer cannot be read, is alive: a pause would not help it. A caller who left says nothing about the service.
 */
function classifyFailure(error: unknown): FailureClass {
  if (!(error instanceof SequencerError)) return 'unknown';
  const { code, httpStatus = 0 } = error;
  const isFailing = code === 'sequencer_unreachable' || code === 'sequencer_timeout' || httpStatus >= 500;
  return isFailing ? 'failing' : 'alive';
}

/** So many failures in a row open the circuit. */
const failuresToOpen = 5;
/** How long nothing is sent then, in milliseconds. */
const openMs = 5_000;

/**
 * Stops the calls to a service that fails.
 *
 * | state | calls | transitions |
 * |---|---|---|
 * | closed | every call | the fifth failure in a row opens it; a sign of life starts the count again |
 * | open | nothing, for 5 s | after that the next call is the probe |
 * | probing | the probe alone | a sign of life closes it, a failure opens it for 5 s more; if the caller leaves, the next call is the probe |
 *
 * Calls that were sent before the circuit opened do not change it when they end. The clock is monotonic.
 */
export class CircuitBreaker {
  readonly #onChange: (isOpen: boolean) => void;
  #failuresInARow = 0;
  /** Undefined while the circuit is closed. */
  #openedAtMs: number | undefined;
  #isProbing = false;
  /** When the service last gave a sign of life, by `performance.now()`. */
  answeredAtMs: number | undefined;

  /** @param onChange called when the circuit opens, and when it closes; not when a probe fails */
  constructor(onChange: (isOpen: boolean) => void = () => undefined) {
    this.#onChange = onChange;
  }

  /** Why nothing may be sent now: `sequencer_unavailable`. Undefined if a call may be sent. */
  refusal(): SequencerError | undefined {
    if (this.#openedAtMs === undefined) return undefined;
    const leftMs = this.#openedAtMs + openMs - performance.now();
    if (leftMs <= 0 && !this.#isProbing) return undefined;
    const message =
      'The sequencer has failed several times in a row. Its circuit is open: nothing is sent for some seconds.';
    return new SequencerError('sequencer_unavailable', message, { retryAfterMs: Math.max(leftMs, 1_000) });
  }

  /** Sends, and learns from the end of the try. The caller has checked in the same turn that there is no `refusal`. */
  async run(send: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const isProbe = this.#openedAtMs !== undefined;
    this.#isProbing = isProbe;
    try {
      const answer = await send();
      this.#note('alive', isProbe);
      return answer;
    } catch (error) {
      this.#note(classifyFailure(error), isProbe);
      throw error;
    }
  }

  #note(outcome: FailureClass, isProbe: boolean): void {
    if (outcome === 'alive') this.answeredAtMs = performance.now();
    if (isProbe) {
      this.#isProbing = false;
      if (outcome === 'failing') this.#openedAtMs = performance.now();
      if (outcome === 'alive') this.#close();
    } else if (outcome === 'alive') {
      this.#failuresInARow = 0;
    } else if (outcome === 'failing') {
      this.#failuresInARow += 1;
      if (this.#failuresInARow >= failuresToOpen) this.#open();
    }
  }

  #open(): void {
    if (this.#openedAtMs !== undefined) return;
    this.#openedAtMs = performance.now();
    this.#onChange(true);
  }

  #close(): void {
    this.#openedAtMs = undefined;
    this.#failuresInARow = 0;
    this.#onChange(false);
  }
}
