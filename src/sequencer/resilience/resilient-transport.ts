import { throwIfAborted } from '../../async/abort.js';
import { Semaphore } from '../../async/semaphore.js';
import { delayUnlessAborted } from '../../async/timeout.js';
import { IntentError, SequencerError } from '../../errors.js';
import { emptyEnvelope, type Operation } from '../../wire/envelope.js';
import {
  brokeOpenConnection,
  type CallOptions,
  type CallTransport,
  callWithTimeout,
  type Transport,
} from '../transport.js';
import { CircuitBreaker, type LastAnswer } from './circuit-breaker.js';
import { isUnreached } from './outage.js';
import { isIdempotent, RetryBudget, retryDelayMs } from './retry-policy.js';

export interface ResilienceOptions {
  /** Timeout of a call, including its wait in the queue and all its attempts, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * For tests. Timeout of one attempt, in milliseconds. A call that is never retried has all of `timeoutMs`.
   * Default: `attemptTimeoutOf(timeoutMs)`.
   */
  readonly attemptTimeoutMs?: number | undefined;
  /** How many calls of an operation run at once. Default 64. */
  readonly maxRunning?: number | undefined;
  /** How many calls of an operation wait in the queue. Default 1024. */
  readonly maxWaiting?: number | undefined;
  /** For tests. From 0 (inclusive) to 1 (exclusive). Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
  readonly observer?: CallObserver | undefined;
  /** Called when a call has ended, unless its caller canceled it. `failure` is undefined if it was answered. Must not throw. */
  readonly onOutcome?: ((failure?: unknown) => void) | undefined;
}

/**
 * Three eighths leave the greater part to the attempt after a timeout: 3 s with the default of 8 s. With a timeout below 3 s, the
 * first attempt may use all of it.
 */
function attemptTimeoutOf(timeoutMs: number): number {
  return Math.min(timeoutMs, Math.max(3_000, Math.ceil((timeoutMs * 3) / 8)));
}

/** Observes the calls to the service. Its methods must not throw. */
export interface CallObserver {
  /** A call begins. It may wait in the queue before it is sent. Returns undefined if this call is not observed. */
  begin(operation: Operation): ObservedCall | undefined;
  breakerChanged(operation: Operation, isOpen: boolean): void;
}

export interface ObservedCall {
  readonly metadata: Readonly<Record<string, string>> | undefined;
  run(send: () => Promise<Uint8Array>): Promise<Uint8Array>;
  /** @param failure undefined if the call was answered @param wasCanceled whether the caller canceled it */
  end(failure: unknown, wasCanceled: boolean): void;
}

/** The state of the service, as the calls so far have shown it. */
export interface ServiceState {
  /** The time since the last answer with bytes and without a failure of the service, in milliseconds. Undefined if there was none. */
  readonly answeredMsAgo: number | undefined;
  /** Whether the circuit of any operation has opened and not closed, and a call of that operation failed in the last five minutes. */
  readonly hasFailingOperation: boolean;
}

export interface ResilientTransport extends Transport, CallTransport {
  call(operation: Operation, body: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
  /** Runs work that may make several calls. `close` waits for its end, and rejects none of its calls. */
  run<Result>(work: (calls: CallTransport) => Promise<Result>): Promise<Result>;
  serviceState(): ServiceState;
}

/**
 * Every call to the service goes through here. A call waits for a permit, fails immediately while the circuit of its
 * operation is open, has a timeout, and is retried if the operation, the error, the remaining time and the retry budget
 * allow it. Streams pass through unchanged.
 *
 * Calls may also throw an `IntentError` with code `too_busy`.
 */
export function resilientTransport(inner: Transport, options: ResilienceOptions): ResilientTransport {
  const calls = new ResilientCalls(inner, options);
  const openStream = inner.openStream?.bind(inner);
  return {
    call: (operation, body, callOptions) => calls.call(operation, body, callOptions),
    run: (work) => calls.run(work),
    ...(openStream && { openStream }),
    close: () => calls.close(),
    serviceState: () => calls.serviceState(),
  };
}

/** The state of one operation. An operation that stalls does not affect the others. */
interface OperationState {
  readonly breaker: CircuitBreaker;
  readonly permits: Semaphore;
  readonly isIdempotent: boolean;
}

interface Call extends CallOptions {
  readonly operation: Operation;
  readonly body: Uint8Array;
  readonly begunAtMs: number;
  readonly observed: ObservedCall | undefined;
}

class ResilientCalls {
  readonly #inner: Transport;
  readonly #options: ResilienceOptions;
  readonly #attemptTimeoutMs: number;
  readonly #states = new Map<Operation, OperationState>();
  readonly #budget = new RetryBudget();
  readonly #lastAnswer: LastAnswer = { atMs: undefined };
  /** The number of running and waiting calls, plus that of running work. */
  #unfinished = 0;
  #whenFinished: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor(inner: Transport, options: ResilienceOptions) {
    this.#inner = inner;
    this.#options = options;
    this.#attemptTimeoutMs = options.attemptTimeoutMs ?? attemptTimeoutOf(options.timeoutMs);
  }

  async run<Result>(work: (calls: CallTransport) => Promise<Result>): Promise<Result> {
    this.#requireOpen();
    this.#unfinished += 1;
    try {
      return await work({ call: (operation, body, options) => this.call(operation, body, options, true) });
    } finally {
      this.#finish();
    }
  }

  /** @param isAccepted whether the call belongs to work that was accepted before `close` */
  async call(
    operation: Operation,
    body: Uint8Array,
    options: CallOptions = {},
    isAccepted = false,
  ): Promise<Uint8Array> {
    const { signal, cancelBeforeSend } = options;
    throwIfAborted(signal, cancelBeforeSend);
    if (!isAccepted) this.#requireOpen();
    const state = this.#stateOf(operation);
    this.#unfinished += 1;
    const observed = this.#options.observer?.begin(operation);
    const call = { operation, body, begunAtMs: performance.now(), signal, cancelBeforeSend, observed };
    let hasPermit = false;
    try {
      hasPermit = state.permits.tryAcquire();
      if (!hasPermit) await this.#waitInQueue(state, call);
      hasPermit = true;
      const answer = await this.#sendWithRetries(state, call);
      observed?.end(undefined, false);
      this.#options.onOutcome?.();
      return answer;
    } catch (error) {
      const wasCanceled = (signal?.aborted || cancelBeforeSend?.aborted) ?? false;
      observed?.end(error, wasCanceled);
      // Also if it could not reach the sequencer before the caller left.
      if (!wasCanceled || isUnreached(error)) this.#options.onOutcome?.(error);
      throw error;
    } finally {
      if (hasPermit) state.permits.release();
      this.#finish();
    }
  }

  /** Waits for the running work and calls, and for the waiting calls. Then closes the transport. */
  close(): Promise<void> {
    this.#closed ??= new Promise<void>((resolve) => {
      this.#whenFinished = resolve;
      if (this.#unfinished === 0) resolve();
    }).then(() => this.#inner.close());
    return this.#closed;
  }

  serviceState(): ServiceState {
    const breakers = [...this.#states.values()].map(({ breaker }) => breaker);
    const { atMs } = this.#lastAnswer;
    return {
      answeredMsAgo: atMs === undefined ? undefined : performance.now() - atMs,
      hasFailingOperation: breakers.some(({ isFailing }) => isFailing),
    };
  }

  #requireOpen(): void {
    if (this.#closed) throw new SequencerError('sequencer_unreachable', 'The client is closed. Create a new client.');
  }

  #finish(): void {
    this.#unfinished -= 1;
    if (this.#unfinished === 0) this.#whenFinished?.();
  }

  #stateOf(operation: Operation): OperationState {
    const known = this.#states.get(operation);
    if (known) return known;
    const { maxRunning = 64, observer } = this.#options;
    const state = {
      breaker: new CircuitBreaker(this.#lastAnswer, (isOpen) => observer?.breakerChanged(operation, isOpen)),
      permits: new Semaphore(maxRunning),
      isIdempotent: isIdempotent(operation),
    };
    this.#states.set(operation, state);
    return state;
  }

  /** Waits for a permit. The queue is bounded: a service that stalls must not exhaust the memory. */
  async #waitInQueue({ permits }: OperationState, { signal, cancelBeforeSend }: Call): Promise<void> {
    const { timeoutMs, maxWaiting = 1_024 } = this.#options;
    if (permits.waiting >= maxWaiting) throw tooBusy(permits);
    const signals = [signal, cancelBeforeSend];
    await permits.acquire({ timeoutMs, timeoutError: () => queueTimeoutError(timeoutMs), signals });
  }

  async #sendWithRetries(state: OperationState, call: Call): Promise<Uint8Array> {
    const { breaker } = state;
    let failure: SequencerError | undefined;
    if (this.#leftMs(call) <= 0) throw queueTimeoutError(this.#options.timeoutMs);
    for (let attempts = 0; ; attempts += 1) {
      const refusal = breaker.refusal();
      // After an attempt, its failure is the error to report.
      if (refusal) throw failure ? afterAttempts(failure, attempts, call) : refusal;
      if (attempts === 0) this.#budget.earn();
      const attempt = breaker.begin();
      try {
        const answer = await this.#sendOnce(state, call, failure);
        breaker.succeeded(attempt, answer === emptyEnvelope);
        return answer;
      } catch (error) {
        breaker.failed(attempt, error);
        const delayMs = this.#retryDelayMs(state, call, attempts, error);
        if (delayMs === undefined) throw afterAttempts(error, attempts + 1, call);
        failure = error as SequencerError;
        await delayUnlessAborted(delayMs, [call.signal, call.cancelBeforeSend]);
      }
    }
  }

  /** @param failure of the attempt before. After a timeout an attempt gets all that is left: the sequencer may always be slow */
  async #sendOnce(state: OperationState, call: Call, failure?: SequencerError): Promise<Uint8Array> {
    try {
      return await this.#send(state, call, failure);
    } catch (error) {
      // A device on the network path may have reset all open connections. That says nothing about the service, so neither the
      // circuit breaker nor the retry budget counts it. The second attempt uses a new connection.
      const mayRepeat = state.isIdempotent && !call.cancelBeforeSend?.aborted && this.#leftMs(call) > 0;
      if (!mayRepeat || !brokeOpenConnection(error)) throw error;
      return this.#send(state, call, failure);
    }
  }

  #send({ isIdempotent }: OperationState, call: Call, failure?: SequencerError): Promise<Uint8Array> {
    const { operation, body, signal, cancelBeforeSend, observed } = call;
    throwIfAborted(cancelBeforeSend, signal);
    const leftMs = this.#leftMs(call);
    const isBounded = isIdempotent && failure?.code !== 'sequencer_timeout';
    const timeoutMs = isBounded ? Math.min(this.#attemptTimeoutMs, leftMs) : leftMs;
    if (!observed) return callWithTimeout(this.#inner, operation, body, { timeoutMs, signal });
    const bounds = { timeoutMs, signal, metadata: observed.metadata };
    return observed.run(() => callWithTimeout(this.#inner, operation, body, bounds));
  }

  #retryDelayMs({ isIdempotent }: OperationState, call: Call, retry: number, error: unknown): number | undefined {
    if (!isIdempotent || call.cancelBeforeSend?.aborted) return undefined;
    const delayMs = retryDelayMs(error, retry, this.#leftMs(call), this.#options.random);
    return delayMs !== undefined && this.#budget.spend() ? delayMs : undefined;
  }

  #leftMs({ begunAtMs }: Call): number {
    return begunAtMs + this.#options.timeoutMs - performance.now();
  }
}

function tooBusy({ held, waiting }: Semaphore): IntentError {
  const message = `Limit reached: ${held} calls of this operation of the sequencer are running, and ${waiting} wait. Retry later.`;
  return new IntentError('too_busy', message, { retryAfterMs: 1_000 });
}

function queueTimeoutError(timeoutMs: number): SequencerError {
  const message = `The call was not sent: it waited ${Math.round(timeoutMs)} ms behind other calls to the sequencer. Retry later.`;
  return new SequencerError('sequencer_timeout', message);
}

function afterAttempts(error: unknown, attempts: number, { begunAtMs }: Call): unknown {
  if (attempts === 1 || !(error instanceof SequencerError)) return error;
  // Without `error` itself between: it has the same message.
  const { code, message, serviceMessage, httpStatus, retryAfterMs, cause } = error;
  const tookMs = Math.round(performance.now() - begunAtMs);
  const details = { serviceMessage, httpStatus, retryAfterMs, cause };
  return new SequencerError(code, `${message} Tried ${attempts} times in ${tookMs} ms.`, details);
}
