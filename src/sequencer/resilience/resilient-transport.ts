import { listenForAbort, throwIfAborted } from '../../async/abort.js';
import { SequencerError } from '../../errors.js';
import { nameOf, type Operation } from '../../wire/envelope.js';
import type { CallObserver, ObservedCall } from '../call-observer.js';
import type { Caller, CallOptions, Transport } from '../transport.js';
import { boundedTry } from './call-with-timeout.js';
import { Breaker } from './circuit-breaker.js';
import { CallGate, type GateLimits, noTurn } from './concurrency-limiter.js';
import { mayPass } from './failure-class.js';
import { isRepeatable } from './repeatable.js';
import { RetryBudget } from './retry-budget.js';

export interface ResilienceOptions extends Partial<GateLimits> {
  /** From the begin of a call to its end, over its time in the queue and all its tries, in milliseconds. */
  readonly timeoutMs: number;
  /** Bound of one try, in milliseconds. What is never repeated has the whole time for its one try. */
  readonly tryTimeoutMs: number;
  /** From 0 to 1, for tests. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
  readonly observer?: CallObserver | undefined;
}

/** Three tries and the waits between them fit into the default of 8 s; a short time is all for the first. */
export function defaultTryTimeoutMs(timeoutMs: number): number {
  return Math.min(timeoutMs, 3_000);
}

/** What the calls so far have shown of the service. */
export interface ServiceState {
  /** Since it has answered, whatever it said, in milliseconds; undefined where it never did. */
  readonly answeredMsAgo: number | undefined;
  /** Whether it has failed so often that some calls are not sent at the moment. */
  readonly isLeftAlone: boolean;
}

/** Tries after the first. */
const maxRepeats = 2;
/** The first wait is up to this long, the second up to twice as long: full jitter, so that calls do not come back as one. */
const firstWaitMs = 100;
/** A service that wants to be left alone for longer is; the caller is told. */
const longestRetryAfterMs = 5_000;
/** With less time left a try is only load. */
const shortestTryMs = 20;

/** As many as there are connections to the proxy for an operation; and what such a service can do in about a second. */
const defaultLimits: GateLimits = { maxRunning: 64, maxWaiting: 1_024 };

/**
 * A transport that outlives faults of the service: it bounds the time of every call and the number of calls, repeats what
 * may be repeated and where that can help, and leaves alone a service that fails. Streams pass through untouched.
 *
 * Calls may then also throw an `IntentError` with code `too_busy`.
 */
export function resilientTransport(
  inner: Transport,
  options: ResilienceOptions,
): Transport & Caller & { readonly service: () => ServiceState } {
  const calls = new ResilientCalls(inner, options);
  const openStream = inner.openStream?.bind(inner);
  return {
    call: (operation, body, callOptions?: CallOptions) => calls.call(operation, body, callOptions),
    ...(openStream && { openStream }),
    close: () => calls.close(),
    service: () => calls.service(),
  };
}

/**
 * What an operation has of its own: one that stalls neither opens the breaker of the others nor takes their places. A
 * service that is gone altogether opens each at its fifth fault.
 */
interface Lane {
  readonly breaker: Breaker;
  readonly gate: CallGate;
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
  readonly #lanes = new Map<string, Lane>();
  readonly #budget = new RetryBudget();
  #unfinished = 0;
  #whenFinished: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor(inner: Transport, options: ResilienceOptions) {
    this.#inner = inner;
    this.#options = options;
  }

  async call(operation: Operation, body: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    const { signal, sendUntil } = options;
    throwIfAborted(signal, sendUntil);
    if (this.#closed) throw new SequencerError('sequencer_unreachable', 'The client is closed.');
    const lane = this.#laneOf(operation);
    this.#unfinished += 1;
    const observed = this.#options.observer?.begin(operation);
    try {
      const call = { operation, body, begunAtMs: performance.now(), signal, sendUntil, observed };
      const answer = await this.#inTurn(lane, call);
      observed?.end(undefined, false);
      return answer;
    } catch (error) {
      observed?.end(error, (signal?.aborted || sendUntil?.aborted) ?? false);
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
    const breakers = [...this.#lanes.values()].map(({ breaker }) => breaker);
    const answeredAtMs = breakers.flatMap((breaker) => breaker.answeredAtMs ?? []);
    return {
      answeredMsAgo: answeredAtMs.length > 0 ? performance.now() - Math.max(...answeredAtMs) : undefined,
      isLeftAlone: breakers.some((breaker) => breaker.refusal() !== undefined),
    };
  }

  #laneOf(operation: Operation): Lane {
    const name = nameOf(operation);
    const known = this.#lanes.get(name);
    if (known) return known;
    const gate = new CallGate({ ...defaultLimits, ...this.#options });
    const breaker = new Breaker((isOpen) => this.#options.observer?.breaker(operation, isOpen));
    const lane = { breaker, gate, isRepeatable: isRepeatable(operation) };
    this.#lanes.set(name, lane);
    return lane;
  }

  async #inTurn(lane: Lane, call: Call): Promise<Uint8Array> {
    const { signal, sendUntil } = call;
    const turn = lane.gate.enter({ timeoutMs: this.#options.timeoutMs, signals: [signal, sendUntil] });
    if (turn) await turn;
    try {
      if (this.#leftMs(call) <= 0) throw noTurn(this.#options.timeoutMs);
      return await this.#sendRepeatedly(lane, call);
    } finally {
      lane.gate.leave();
    }
  }

  async #sendRepeatedly(lane: Lane, call: Call): Promise<Uint8Array> {
    let failure: SequencerError | undefined;
    for (let tries = 0; ; tries += 1) {
      const refusal = lane.breaker.refusal();
      // Once something was sent, what came of it is the story to tell.
      if (refusal) throw failure ? afterTries(failure, tries, call) : refusal;
      if (tries === 0) this.#budget.earn();
      try {
        return await lane.breaker.run(() => this.#sendOnce(lane, call));
      } catch (error) {
        const waitMs = this.#waitBeforeNext(lane, call, tries, error);
        if (waitMs === undefined) throw afterTries(error, tries + 1, call);
        failure = error as SequencerError;
        await pause(waitMs, call);
      }
    }
  }

  /** How much of the call's time is left, in milliseconds. */
  #leftMs({ begunAtMs }: Call): number {
    return begunAtMs + this.#options.timeoutMs - performance.now();
  }

  #sendOnce(lane: Lane, call: Call): Promise<Uint8Array> {
    const { operation, body, signal, sendUntil, observed } = call;
    throwIfAborted(sendUntil, signal);
    const leftMs = this.#leftMs(call);
    const timeoutMs = lane.isRepeatable ? Math.min(this.#options.tryTimeoutMs, leftMs) : leftMs;
    if (!observed) return boundedTry(this.#inner, operation, body, { timeoutMs, signal });
    const bounds = { timeoutMs, signal, metadata: observed.metadata };
    return observed.run(() => boundedTry(this.#inner, operation, body, bounds));
  }

  /** How long to wait before the same is sent again, in milliseconds; undefined where it must not or cannot help. */
  #waitBeforeNext(lane: Lane, call: Call, repeats: number, error: unknown): number | undefined {
    if (!lane.isRepeatable || repeats >= maxRepeats || call.sendUntil?.aborted || !mayPass(error)) return undefined;
    const { random = Math.random } = this.#options;
    const { retryAfterMs = 0 } = error;
    const waitMs = retryAfterMs + random() * firstWaitMs * 2 ** repeats;
    if (retryAfterMs > longestRetryAfterMs || this.#leftMs(call) - waitMs < shortestTryMs) return undefined;
    return this.#budget.spend() ? waitMs : undefined;
  }
}

/**
 * Not cockatiel's retry policy: its wait ends for no signal, and whether to wait depends here on the time and the budget
 * that are left.
 */
function pause(waitMs: number, { signal, sendUntil }: Call): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      unlisten();
      resolve();
    }, waitMs);
    const unlisten = listenForAbort([signal, sendUntil], ({ reason }) => {
      clearTimeout(timer);
      unlisten();
      reject(reason);
    });
  });
}

/** The error of the last try; after several it tells of them too. */
function afterTries(error: unknown, tries: number, { begunAtMs }: Call): unknown {
  if (tries === 1 || !(error instanceof SequencerError)) return error;
  const { code, message, serviceMessage, httpStatus, retryAfterMs } = error;
  const tookMs = Math.round(performance.now() - begunAtMs);
  const details = { serviceMessage, httpStatus, retryAfterMs, cause: error };
  return new SequencerError(code, `${message} Tried ${tries} times in ${tookMs} ms.`, details);
}
