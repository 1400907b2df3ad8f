import { type AbortSignalLike, LightAbortController } from '../../async/abort.js';
import { BoundedMap } from '../../async/bounded-map.js';
import { flagsOf, type IntentStatus } from '../calls.js';
import { type CallOptions, cancelBeforeSend } from '../transport.js';

/** The lifetime while an intent is not submitted, in milliseconds: too short to notice, long enough to share a call. */
export const unsubmittedTtlMs = 250;
/** The lifetime once it is submitted. Limited, because a submission may be reversed. */
const submittedTtlMs = 60_000;

/** Requests the status of an intent, as `getStatus` of a client does. */
export type FetchStatus = (id: string, options: CallOptions) => Promise<IntentStatus>;

/**
 * Why a status was read: for a page (`status`), for the watch of an event stream, after a webhook call, or for the
 * ledger. If callers with different sources share a call, its source is the one that comes last in `sources`.
 */
export type StatusSource = (typeof sources)[number];
const sources = ['status', 'stream', 'webhook', 'ledger'] as const;

export interface StatusUpdate {
  readonly id: string;
  readonly status: IntentStatus;
  readonly source: StatusSource;
}

export interface StatusReadOptions {
  /** Ends the wait early. The call then rejects with the signal's reason. */
  readonly signal?: AbortSignalLike | undefined;
  /** Ignores cached answers, and running calls, whose answers may be older than this request. */
  readonly bypassCache?: boolean | undefined;
  /** Default `status`. */
  readonly source?: StatusSource | undefined;
}

export interface StatusCacheOptions {
  readonly fetchStatus: FetchStatus;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
  /** How many intents are cached. Then a new one evicts the one whose status is the oldest. Default 10 000. */
  readonly capacity?: number | undefined;
  /** Called with the error that a subscriber throws. The other subscribers and the callers still get the status. */
  readonly onSubscriberError?: ((error: unknown) => void) | undefined;
}

/**
 * The status of intents, as this process knows it. All status reads of the routes, the event feeds and the
 * ledger go through the cache. Concurrent callers share one call upstream, and subscribers get every status except a repeat of
 * a fresh one. The states of an intent:
 *
 *     absent   -- get ---------------------------------> pending: a call upstream runs, and callers share its answer
 *     pending  -- the call succeeds -------------------> fresh, for its lifetime
 *     pending  -- the call fails ----------------------> absent: the next caller makes a new call
 *     pending  -- all callers abort -------------------> pending; a call that is not sent yet is canceled
 *     fresh    -- its lifetime passes -----------------> stale
 *     stale    -- get ---------------------------------> pending
 *     any      -- get with bypassCache ----------------> pending; the answer of a running call is not cached
 *     any      -- set ---------------------------------> fresh; the answer of a running call is not cached
 *     any      -- evicted, at the capacity ------------> absent
 */
export class StatusCache {
  readonly #answers: BoundedMap<{ readonly status: IntentStatus; readonly atMs: number }>;
  readonly #running = new Map<string, SharedCall>();
  readonly #fetchStatus: FetchStatus;
  readonly #now: () => number;
  readonly #onSubscriberError: (error: unknown) => void;
  readonly #subscribers: ((update: StatusUpdate) => void)[] = [];

  constructor({ fetchStatus, now, capacity = 10_000, onSubscriberError = () => undefined }: StatusCacheOptions) {
    this.#fetchStatus = fetchStatus;
    this.#onSubscriberError = onSubscriberError;
    this.#now = now;
    this.#answers = new BoundedMap({ capacity, ttlMs: submittedTtlMs, now });
  }

  /** The number of answers and running calls, for tests. */
  get size(): number {
    return this.#answers.size + this.#running.size;
  }

  /** Calls `subscriber` with every further update, before the waiting callers get the answer. */
  subscribe(subscriber: (update: StatusUpdate) => void): void {
    this.#subscribers.push(subscriber);
  }

  /** The fresh status, if cached. Without a promise, because most requests end here. */
  peek(id: string): IntentStatus | undefined {
    return this.#running.has(id) ? undefined : this.#fresh(id);
  }

  /** The status, cached or not. @throws {IntentError} `invalid_id` @throws {SequencerError} @throws the signal's reason */
  get(id: string, options: StatusReadOptions = {}): Promise<IntentStatus> {
    const { signal, bypassCache = false, source = 'status' } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const known = bypassCache ? undefined : this.peek(id);
    if (known) return Promise.resolve(known);
    const call = (!bypassCache && this.#running.get(id)) || this.#call(id);
    // All earlier callers have left, so the call may fail without being sent. Then this caller makes a new one.
    const mayBeUnsent = call.aborted;
    const answer = call.join(source, signal);
    if (!mayBeUnsent) return answer;
    return answer.catch((error) => (signal?.aborted ? Promise.reject(error) : this.get(id, options)));
  }

  /** Stores a status from another source. The answer of a running call does not replace it. */
  set(id: string, status: IntentStatus, source: StatusSource): void {
    this.#running.delete(id);
    this.#store(id, status, source);
  }

  #fresh(id: string): IntentStatus | undefined {
    const answer = this.#answers.get(id);
    if (!answer || answer.status.intentSubmitted) return answer?.status;
    return this.#now() - answer.atMs < unsubmittedTtlMs ? answer.status : undefined;
  }

  #call(id: string): SharedCall {
    const call = new SharedCall();
    this.#running.set(id, call);
    this.#fetchStatus(id, cancelBeforeSend(call)).then(
      (status) => {
        if (this.#running.get(id) === call) {
          this.#running.delete(id);
          this.#store(id, status, call.source);
        }
        call.resolve(status);
      },
      (error) => {
        if (this.#running.get(id) === call) {
          this.#running.delete(id);
          this.#answers.delete(id);
        }
        call.reject(error);
      },
    );
    return call;
  }

  #store(id: string, status: IntentStatus, source: StatusSource): void {
    const previous = this.#fresh(id);
    this.#answers.set(id, { status, atMs: this.#now() });
    // A repeated status is an update only if the last one was stale.
    if (previous && flagsOf(previous) === flagsOf(status)) return;
    const update: StatusUpdate = { id, status, source };
    for (const subscriber of this.#subscribers) {
      try {
        subscriber(update);
      } catch (error) {
        this.#onSubscriberError(error);
      }
    }
  }
}

interface Waiter {
  readonly resolve: (status: IntentStatus) => void;
  readonly reject: (reason: unknown) => void;
  readonly signal: AbortSignalLike | undefined;
  /** The listener of the signal. */
  readonly leave: () => void;
}

/**
 * A call upstream and its callers. Aborted once the last waiting caller has left. A call that was sent runs to its end even
 * then: ending it would close a connection that other calls can use.
 */
class SharedCall extends LightAbortController {
  source: StatusSource = 'status';
  readonly #waiters = new Set<Waiter>();

  join(source: StatusSource, signal: AbortSignalLike | undefined): Promise<IntentStatus> {
    if (sources.indexOf(source) > sources.indexOf(this.source)) this.source = source;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiters.delete(waiter);
        reject(signal?.reason);
        if (this.#waiters.size === 0) this.abort(signal?.reason);
      };
      const waiter: Waiter = { resolve, reject, signal, leave };
      this.#waiters.add(waiter);
      signal?.addEventListener('abort', leave);
    });
  }

  resolve(status: IntentStatus): void {
    for (const { resolve, signal, leave } of this.#waiters) {
      signal?.removeEventListener('abort', leave);
      resolve(status);
    }
    this.#waiters.clear();
  }

  reject(reason: unknown): void {
    for (const { reject, signal, leave } of this.#waiters) {
      signal?.removeEventListener('abort', leave);
      reject(reason);
    }
    this.#waiters.clear();
  }
}
