import { throwIfAborted } from '../../async/abort.js';
import { Semaphore } from '../../async/semaphore.js';
import { delayUnlessAborted } from '../../async/timeout.js';
import { IntentError, SequencerError } from '../../errors.js';
import { nameOf, type Operation } from '../../wire/envelope.js';
import { type Caller, type CallOptions, callWithTimeout, type Transport } from '../transport.js';
import { CircuitBreaker } from './circuit-breaker.js';
import { isRepeatable, RetryBudget, retryDelayMs } from './retry-policy.js';

export interface ResilienceOptions {
  /** Bound of a call over its time in line and all its tries, in milliseconds. */
  readonly timeoutMs: number;
  /** Bound of one try, in milliseconds. A call that is never retried has the whole time for its one try. */
  readonly attemptTimeoutMs: number;
  /** How many calls of an operation run at a time. Default: as many as a service completes in about a second, 64. */
  readonly maxRunning?: number | undefined;
  /** How many calls of an operation wait in line. Default 1024. */
  readonly maxWaiting?: number | undefined;
  /** From 0 to 1, for tests. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
  readonly observer?: CallObserver | undefined;
}

/** Three tries and the delays between them fit into the default of 8 s. A shorter time is all for the first try. */
export function defaultAttemptTimeoutMs(timeoutMs: number): number {
  return Math.min(timeoutMs, 3_000);
}

/** Observes the calls to the service. Its methods must not throw. */
export interface CallObserver {
  /** A call begins; it may wait in line before it is sent. Undefined if this call is not observed. */
  begin(operation: Operation): ObservedCall | undefined;
  /** The circuit of an operation opens or closes. */
  breaker(operation: Operation, isOpen: boolean): void;
}

/** One call, over all its tries. */
export interface ObservedCall {
  /** What is sent along with every try. */
  readonly metadata: Readonly<Record<string, string>> | undefined;
  /** Makes one try. */
  run(send: () => Promise<Uint8Array>): Promise<Uint8Array>;
  /**
   * @param failure undefined for a call that was answered
   * @param hasLeft whether the caller left before the end
   */
  end(failure: unknown, hasLeft: boolean): void;
}

/** What the calls so far have shown about the service. */
export interface ServiceState {
  /** Since the last sign of life, in milliseconds; undefined if there was none. */
  readonly answeredMsAgo: number | undefined;
  /** Whether the circuit of an operation is open, so that its calls are not sent now. */
  readonly circuitOpen: boolean;
}

/** A transport whose calls take all options of a caller. */
export interface ResilientTransport extends Transport, Caller {
  call(operation: Operation, body: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
  service(): ServiceState;
}

/**
 * The one way of every call to the service. A call waits for its turn, is refused while the circuit of its operation is open, is
 * bounded in time, and is retried where the operation, the error, the time left and the budget allow it. Streams pass through.
 *
 * Calls may then also throw an `IntentError` with code `too_busy`.
 */
export function resilientTransport(inner: Transport, options: ResilienceOptions): ResilientTransport {
  const calls = new ResilientCalls(inner, options);
  const openStream = inner.openStream?.bind(inner);
  return {
    call: (operation, body, callOptions) => calls.call(operation, body, callOptions),
    ...(openStream && { openStream }),
    close: () => calls.close(),
    service: () => calls.service(),
  };
}

/**
 * The state of one operation. An operation that stalls neither opens the circuit of the others nor takes their places. If the
 * service is gone, each circuit opens at its own fifth failure.
 */
interface OperationState {
  readonly breaker: CircuitBreaker;
  readonly running: Semaphore;
  readonly isRepeatable: boolean;
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
  readonly #states = new Map<string, OperationState>();
  readonly #budget = new RetryBudget();
  #unfinished = 0;
  #whenFinished: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor(inner: Transport, options: ResilienceOptions) {
    this.#inner = inner;
    this.#options = options;
  }

  async call(operation: Operation, body: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    const { signal, cancelBeforeSend } = options;
    throwIfAborted(signal, cancelBeforeSend);
    if (this.#closed) throw new SequencerError('sequencer_unreachable', 'The client is closed.');
    const state = this.#stateOf(operation);
    this.#unfinished += 1;
    const observed = this.#options.observer?.begin(operation);
    try {
      const call = { operation, body, begunAtMs: performance.now(), signal, cancelBeforeSend, observed };
      const answer = await this.#inTurn(state, call);
      observed?.end(undefined, false);
      return answer;
    } catch (error) {
      observed?.end(error, (signal?.aborted || cancelBeforeSend?.aborted) ?? false);
      throw error;
    } finally {
      this.#unfinished -= 1;
      if (this.#unfinished === 0) this.#whenFinished?.();
    }
  }

  /** Lets the calls that run or wait end, then closes the transport. */
  close(): Promise<void> {
    this.#closed ??= new Promise<void>((resolve) => {
      this.#whenFinished = resolve;
      if (this.#unfinished === 0) resolve();
    }).then(() => this.#inner.close());
    return this.#closed;
  }

  service(): ServiceState {
    const breakers = [...this.#states.values()].map(({ breaker }) => breaker);
    const answeredAtMs = breakers.flatMap((breaker) => breaker.answeredAtMs ?? []);
    return {
      answeredMsAgo: answeredAtMs.length > 0 ? performance.now() - Math.max(...answeredAtMs) : undefined,
      circuitOpen: breakers.some((breaker) => breaker.refusal() !== undefined),
    };
  }

  #stateOf(operation: Operation): OperationState {
    const name = nameOf(operation);
    const known = this.#states.get(name);
    if (known) return known;
    const { maxRunning = 64, observer } = this.#options;
    const state = {
      breaker: new CircuitBreaker((isOpen) => observer?.breaker(operation, isOpen)),
      running: new Semaphore(maxRunning),
      isRepeatable: isRepeatable(operation),
    };
    this.#states.set(name, state);
    return state;
  }

  /** The line is bounded, so that a service that stalls does not fill the memory. */
  async #inTurn(state: OperationState, call: Call): Promise<Uint8Array> {
    const { running } = state;
    const { timeoutMs, maxWaiting = 1_024 } = this.#options;
    if (running.isTaken && running.waiting >= maxWaiting) throw tooBusy(running);
    const signals = [call.signal, call.cancelBeforeSend];
    const turn = running.acquire({ timeoutMs, timeoutError: () => noTurn(timeoutMs), signals });
    if (turn) await turn;
    try {
      if (this.#leftMs(call) <= 0) throw noTurn(timeoutMs);
      return await this.#sendWithRetries(state, call);
    } finally {
      running.release();
    }
  }

  async #sendWithRetries(state: OperationState, call: Call): Promise<Uint8Array> {
    let failure: SequencerError | undefined;
    for (let tries = 0; ; tries += 1) {
      const refusal = state.breaker.refusal();
      // Once something was sent, its outcome is the error to report.
      if (refusal) throw failure ? afterTries(failure, tries, call) : refusal;
      if (tries === 0) this.#budget.earn();
      try {
        return await state.breaker.run(() => this.#sendOnce(state, call));
      } catch (error) {
        const delayMs = this.#retryDelayMs(state, call, tries, error);
        if (delayMs === undefined) throw afterTries(error, tries + 1, call);
        failure = error as SequencerError;
        await delayUnlessAborted(delayMs, [call.signal, call.cancelBeforeSend]);
      }
    }
  }

  #sendOnce({ isRepeatable }: OperationState, call: Call): Promise<Uint8Array> {
    const { operation, body, signal, cancelBeforeSend, observed } = call;
    throwIfAborted(cancelBeforeSend, signal);
    const leftMs = this.#leftMs(call);
    const timeoutMs = isRepeatable ? Math.min(this.#options.attemptTimeoutMs, leftMs) : leftMs;
    if (!observed) return callWithTimeout(this.#inner, operation, body, { timeoutMs, signal });
    const bounds = { timeoutMs, signal, metadata: observed.metadata };
    return observed.run(() => callWithTimeout(this.#inner, operation, body, bounds));
  }

  #retryDelayMs({ isRepeatable }: OperationState, call: Call, retry: number, error: unknown): number | undefined {
    if (!isRepeatable || call.cancelBeforeSend?.aborted) return undefined;
    const delayMs = retryDelayMs(error, retry, this.#leftMs(call), this.#options.random);
    return delayMs !== undefined && this.#budget.spend() ? delayMs : undefined;
  }

  /** How much of the call's time is left, in milliseconds. */
  #leftMs({ begunAtMs }: Call): number {
    return begunAtMs + this.#options.timeoutMs - performance.now();
  }
}

function tooBusy({ held, waiting }: Semaphore): IntentError {
  const message = `${held} calls to the sequencer are under way, and ${waiting} wait.`;
  return new IntentError('too_busy', message, { retryAfterMs: 1_000 });
}

function noTurn(timeoutMs: number): SequencerError {
  const message = `The call waited ${Math.round(timeoutMs)} ms for its turn behind others, and was not sent.`;
  return new SequencerError('sequencer_timeout', message);
}

/** The error of the last try. After several tries it says how many there were. */
function afterTries(error: unknown, tries: number, { begunAtMs }: Call): unknown {
  if (tries === 1 || !(error instanceof SequencerError)) return error;
  const { code, message, serviceMessage, httpStatus, retryAfterMs } = error;
  const tookMs = Math.round(performance.now() - begunAtMs);
  const details = { serviceMessage, httpStatus, retryAfterMs, cause: error };
  return new SequencerError(code, `${message} Tried ${tries} times in ${tookMs} ms.`, details);
}
