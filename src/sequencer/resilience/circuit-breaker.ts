import { createRequire } from 'node:module';
import type { CircuitBreakerPolicy } from 'cockatiel';
import { SequencerError } from '../../errors.js';
import { judge, type Verdict } from './failure-class.js';

const require = createRequire(import.meta.url);
/** Loaded by the first call, and not with the package. */
const loadCockatiel = (): typeof import('cockatiel') => require('cockatiel');

/** So many faults in a row open it. */
const faultsToOpen = 5;
/** For so long nothing is sent then; after it one call is, and decides. */
const openMs = 5_000;

/** How a try ended. */
type Outcome = { readonly answer: Uint8Array } | { readonly error: unknown; readonly verdict: Verdict };

/**
 * Leaves a service alone that has failed several times in a row: a circuit breaker.
 *
 * The states are cockatiel's. The time is kept here, by a clock that nobody sets back, and whoever may not send is told at
 * once: with cockatiel alone, calls that come while the service is probed would wait for the probe.
 */
export class Breaker {
  readonly #policy: CircuitBreakerPolicy;
  readonly #states: typeof import('cockatiel').CircuitState;
  #openedAtMs = 0;
  #isOpen = false;
  /** When the service has last answered, whatever it said, by `performance.now()`. */
  answeredAtMs: number | undefined;

  /** @param onChange told when it opens, and when it closes again */
  constructor(onChange: (isOpen: boolean) => void = () => undefined) {
    const { CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhenResult } = loadCockatiel();
    this.#states = CircuitState;
    this.#policy = circuitBreaker(
      handleWhenResult((outcome) => isFault(outcome as Outcome)),
      { breaker: new ConsecutiveBreaker(faultsToOpen), halfOpenAfter: Number.NEGATIVE_INFINITY },
    );
    this.#policy.onBreak(() => {
      this.#openedAtMs = performance.now();
      // A probe that fails opens it anew.
      if (!this.#isOpen) onChange(true);
      this.#isOpen = true;
    });
    this.#policy.onReset(() => {
      this.#isOpen = false;
      onChange(false);
    });
  }

  /** Why nothing may be sent at the moment: `sequencer_unavailable`. Undefined when something may. */
  refusal(): SequencerError | undefined {
    const { state } = this.#policy;
    if (state === this.#states.Closed) return undefined;
    const leftMs = this.#openedAtMs + openMs - performance.now();
    if (state === this.#states.Open && leftMs <= 0) return undefined;
    const message = 'The sequencer has failed several times in a row and is left alone for some seconds.';
    return new SequencerError('sequencer_unavailable', message, { retryAfterMs: Math.max(leftMs, 1_000) });
  }

  /** Sends, and learns from how it ends. Only where there is no `refusal`, asked in the same turn. */
  async run(send: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const isProbe = this.#policy.state !== this.#states.Closed;
    const openedAtMs = this.#openedAtMs;
    const outcome = await this.#policy.execute(() => outcomeOf(send, isProbe));
    if ('answer' in outcome) {
      this.answeredAtMs = performance.now();
      return outcome.answer;
    }
    if (outcome.verdict === 'alive') this.answeredAtMs = performance.now();
    // The next call is the probe then: a visitor who leaves again and again must not keep the service from all others.
    if (isProbe && outcome.verdict === 'unknown') this.#openedAtMs = openedAtMs;
    throw outcome.error;
  }
}

const isFault = (outcome: Outcome): boolean => 'verdict' in outcome && outcome.verdict !== 'alive';

async function outcomeOf(send: () => Promise<Uint8Array>, isProbe: boolean): Promise<Outcome> {
  try {
    return { answer: await send() };
  } catch (error) {
    const verdict = judge(error);
    // Thrown, it is neither a fault nor a success to the policy. A probe that proves nothing must not close it, though.
    if (verdict === 'unknown' && !isProbe) throw error;
    return { error, verdict };
  }
}
