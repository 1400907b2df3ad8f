import { SequencerError } from '../../errors.js';

/** What the outcome of an attempt says about the service. */
type Outcome = 'alive' | 'empty' | 'failing' | 'unknown';

/**
 * A service is failing if it cannot be reached, does not answer in time, or reports a failure of its own (HTTP status
 * 5xx). A service that refuses a request, or whose answer cannot be decoded, is alive: a pause would not help. A
 * canceled call says nothing about the service.
 */
function classifyFailure(error: unknown): Outcome {
  if (!(error instanceof SequencerError)) return 'unknown';
  const { code, httpStatus = 0 } = error;
  const isFailing = code === 'sequencer_unreachable' || code === 'sequencer_timeout' || httpStatus >= 500;
  return isFailing ? 'failing' : 'alive';
}

const isUnreachable = (error: unknown): boolean =>
  error instanceof SequencerError && error.code === 'sequencer_unreachable';

/** When the service last answered any operation with at least one byte and without a failure, by `performance.now()`. */
export interface LastAnswer {
  atMs: number | undefined;
}

/** An attempt to call the service, from `begin` to `succeeded` or `failed`. */
export interface Attempt {
  readonly isProbe: boolean;
  /** Counts the attempts. */
  readonly number: number;
  readonly begunAtMs: number;
}

const failuresToOpen = 5;
/** A broken or refused connection is reported within this time. In milliseconds. */
const soonMs = 500;
/** How long an open circuit sends no call: at first, so that a short interruption ends soon, and at most. In milliseconds. */
const pause = { firstMs: 500, longestMs: 2_000 };
/** How long after the last failure an open circuit counts as a failure of the service, in milliseconds. */
const failingMs = 300_000;

/**
 * Stops the calls to a service that fails.
 *
 *     closed  (every call is sent)      -- five consecutive failures -----------> open
 *     open    (no call is sent, 0.5 s)  -- the first call after that -----------> probing
 *     probing (only the probe is sent)  -- the service is alive ----------------> closed
 *     probing                           -- the probe fails ---------------------> open, twice as long, at most 2 s
 *     probing                           -- the caller cancels the probe, or its
 *                                          answer is empty ---------------------> probing, with the next call
 *
 * One event, such as a restart of the service, can break many connections. So attempts that could not reach the service count as one
 * failure, if they overlap and fail soon. Slow failures count each: otherwise many would wait for them before the circuit opens.
 *
 * Any server can send an empty answer. It shows that the service is alive only if another call has shown that too since
 * the last failure.
 *
 * Calls that were sent before the circuit opened do not change it when they end.
 */
export class CircuitBreaker {
  readonly #onChange: (isOpen: boolean) => void;
  #consecutiveFailures = 0;
  #openedAtMs: number | undefined;
  #pauseMs = pause.firstMs;
  /** Explains the refusals. */
  #lastFailure: unknown;
  /** The number of attempts so far, and when the last failure was counted. */
  #attempts = 0;
  #attemptsAtFailure = 0;
  #isProbing = false;
  readonly #lastAnswer: LastAnswer;

  /** @param onChange called when the circuit opens or closes, but not when a probe fails */
  constructor(lastAnswer: LastAnswer, onChange: (isOpen: boolean) => void) {
    this.#lastAnswer = lastAnswer;
    this.#onChange = onChange;
  }

  /**
   * Whether the circuit is open or probing, and opened or failed its last probe less than five minutes ago. Without calls an open
   * circuit never closes, so its age is limited.
   */
  get isFailing(): boolean {
    return this.#openedAtMs !== undefined && performance.now() - this.#openedAtMs < failingMs;
  }

  /** The error `sequencer_unavailable` if no call may be sent now. Otherwise undefined. */
  refusal(): SequencerError | undefined {
    if (this.#openedAtMs === undefined) return undefined;
    // A sum with the pause could be rounded up to more than the pause.
    const leftMs = this.#pauseMs - (performance.now() - this.#openedAtMs);
    if (leftMs <= 0 && !this.#isProbing) return undefined;
    const retryAfterMs = Math.max(leftMs, 1_000);
    const message =
      `The call was not sent: the sequencer failed ${failuresToOpen} times in a row, and the circuit is open. The next attempt ` +
      `follows in ${Math.ceil(retryAfterMs / 1_000)} s.`;
    return new SequencerError('sequencer_unavailable', message, { retryAfterMs, cause: this.#lastFailure });
  }

  /**
   * Call it before a call is sent, in the same turn of the event loop as `refusal`. Then call `succeeded` or `failed`.
   */
  begin(): Attempt {
    this.#isProbing = this.#openedAtMs !== undefined;
    this.#attempts += 1;
    return { isProbe: this.#isProbing, number: this.#attempts, begunAtMs: performance.now() };
  }

  /** @param isEmpty whether the answer had no bytes */
  succeeded(attempt: Attempt, isEmpty: boolean): void {
    this.#note(isEmpty ? 'empty' : 'alive', attempt);
  }

  failed(attempt: Attempt, error: unknown): void {
    const isSoon = performance.now() - attempt.begunAtMs < soonMs;
    const isSameEvent = attempt.number <= this.#attemptsAtFailure && isSoon && isUnreachable(error);
    if (classifyFailure(error) === 'failing') this.#lastFailure = error;
    this.#note(isSameEvent && !attempt.isProbe ? 'unknown' : classifyFailure(error), attempt);
  }

  #note(outcome: Outcome, { isProbe }: Attempt): void {
    if (outcome === 'alive') this.#lastAnswer.atMs = performance.now();
    if (isProbe) {
      this.#isProbing = false;
      if (outcome === 'failing') {
        this.#openedAtMs = performance.now();
        this.#pauseMs = Math.min(2 * this.#pauseMs, pause.longestMs);
      }
      if (outcome === 'alive' || (outcome === 'empty' && this.#hasAnsweredSinceFailure())) this.#close();
    } else if (outcome === 'alive' || outcome === 'empty') {
      this.#consecutiveFailures = 0;
    } else if (outcome === 'failing') {
      this.#consecutiveFailures += 1;
      this.#attemptsAtFailure = this.#attempts;
      if (this.#consecutiveFailures >= failuresToOpen) this.#open();
    }
  }

  #hasAnsweredSinceFailure(): boolean {
    return (this.#lastAnswer.atMs ?? Number.NEGATIVE_INFINITY) > (this.#openedAtMs ?? 0);
  }

  #open(): void {
    if (this.#openedAtMs !== undefined) return;
    this.#openedAtMs = performance.now();
    this.#onChange(true);
  }

  #close(): void {
    this.#openedAtMs = undefined;
    this.#consecutiveFailures = 0;
    this.#pauseMs = pause.firstMs;
    this.#onChange(false);
  }
}
