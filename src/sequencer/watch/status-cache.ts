import { Abort, type Abortable } from '../../async/abort.js';
import { BoundedMap } from '../../async/bounded-map.js';
import type { IntentStatus } from '../calls.js';
import type { CallOptions } from '../transport.js';

/** Requests the status of an intent, as `getStatus` of a client does. */
export type FetchStatus = (id: string, options: CallOptions) => Promise<IntentStatus>;

/**
 * Why a status was read: for a page (`status`), for the watch of an event stream, after a webhook call, or for the
 * ledger. A shared call has the last of its callers' sources in this order.
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
  readonly signal?: Abortable | undefined;
  /** Ignores cached answers. A running call is still shared. */
  readonly bypassCache?: boolean | undefined;
  /** Default `status`. */
  readonly source?: StatusSource | undefined;
}

export interface StatusCacheOptions {
  readonly fetchStatus: FetchStatus;
  readonly now: () => number;
  /** How many intents are cached. The oldest entry is evicted first. Default 10 000. */
  readonly capacity?: number | undefined;
  /** Called with the error that a subscriber throws. The other subscribers and the callers still get the status. */
  readonly onSubscriberError?: ((error: unknown) => void) | undefined;
}

/** The lifetime while an intent is not submitted, in milliseconds: too short to notice, long enough to share a call. */
export const pendingMs = 250;
/** The lifetime once it is submitted. Limited, because a submission may be reversed. */
const submittedMs = 60_000;

/**
 * The cache entry of an intent.
 *
 *     (absent) -- get ---------------------------------> pending: a call upstream runs, and callers share its answer
 *     pending  -- the call succeeds -------------------> fresh, for `lifetimeMs`
 *     pending  -- the call fails ----------------------> absent: the next caller makes a new call
 *     pending  -- all callers abort -------------------> pending; a call that was not sent yet fails unsent
 *     fresh    -- lifetimeMs passes -------------------> stale
 *     stale    -- get ---------------------------------> pending, as a new entry
 *     fresh    -- get with bypassCache ----------------> pending, as a new entry
 *     any      -- set ---------------------------------> fresh, as a new entry
 *     any      -- evicted, at the capacity ------------> absent
 *
 * A call that was sent runs to its end, even if all callers abort: ending it would close a connection that other calls
 * need.
 */
interface Entry {
  readonly answer: Promise<IntentStatus>;
  source: StatusSource;
  /** Aborted when the last waiting caller has left. Undefined once there is an answer. */
  upstream: Abort | undefined;
  waiting: number;
  /** The last answered entry before this one. Undefined once this one is answered. */
  previous: Entry | undefined;
  status: IntentStatus | undefined;
  answeredAt: number;
  lifetimeMs: number;
}

/** The status of intents. Concurrent callers share one call upstream, and subscribers get every change. */
export class StatusCache {
  readonly #entries: BoundedMap<Entry>;
  readonly #fetchStatus: FetchStatus;
  readonly #now: () => number;
  readonly #onSubscriberError: (error: unknown) => void;
  readonly #subscribers: ((update: StatusUpdate) => void)[] = [];

  constructor({ fetchStatus, now, capacity = 10_000, onSubscriberError = () => undefined }: StatusCacheOptions) {
    this.#fetchStatus = fetchStatus;
    this.#now = now;
    this.#onSubscriberError = onSubscriberError;
    this.#entries = new BoundedMap({ capacity });
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Calls `subscriber` with every further update, before the waiting callers get the answer. */
  subscribe(subscriber: (update: StatusUpdate) => void): void {
    this.#subscribers.push(subscriber);
  }

  /** The fresh status, if cached. Without a promise, because most requests end here. */
  peek(id: string): IntentStatus | undefined {
    const entry = this.#entries.get(id);
    return entry && this.#isFresh(entry) ? entry.status : undefined;
  }

  /** The status, cached or not. @throws {IntentError} `invalid_id` @throws {SequencerError} @throws the signal's reason */
  get(id: string, options: StatusReadOptions = {}): Promise<IntentStatus> {
    const { signal, bypassCache = false, source = 'status' } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const found = this.#entries.get(id);
    const isShared = found && (isPending(found) || (!bypassCache && this.#isFresh(found)));
    const entry = isShared ? found : this.#call(id);
    if (!isPending(entry)) return entry.answer;
    entry.waiting += 1;
    if (sources.indexOf(source) > sources.indexOf(entry.source)) entry.source = source;
    const answer = signal ? this.#answerOrAbort(entry, signal) : entry.answer;
    if (!entry.upstream?.aborted) return answer;
    // All earlier callers have left, so the call may fail without being sent. Then this caller makes a new one.
    return answer.catch((error) => (signal?.aborted ? Promise.reject(error) : this.get(id, options)));
  }

  /** Stores a status from another source. It takes precedence over the answer of a running call. */
  set(id: string, status: IntentStatus, source: StatusSource): void {
    const entry = this.#add(id, Promise.resolve(status), undefined);
    entry.source = source;
    this.#settle(id, entry, status);
  }

  #isFresh({ status, answeredAt, lifetimeMs }: Entry): boolean {
    const ageMs = this.#now() - answeredAt;
    // A negative age means that the clock was set back. The status must not last until it has caught up.
    return status !== undefined && ageMs >= 0 && ageMs < lifetimeMs;
  }

  #call(id: string): Entry {
    const upstream = new Abort();
    const answer = this.#fetchStatus(id, { cancelBeforeSend: upstream });
    const entry = this.#add(id, answer, upstream);
    answer.then(
      (status) => this.#settle(id, entry, status),
      () => {
        if (this.#entries.get(id) === entry) this.#entries.delete(id);
      },
    );
    return entry;
  }

  #add(id: string, answer: Promise<IntentStatus>, upstream: Abort | undefined): Entry {
    const replaced = this.#entries.get(id);
    const entry: Entry = {
      answer,
      source: 'status',
      upstream,
      waiting: 0,
      previous: replaced?.status ? replaced : replaced?.previous,
      status: undefined,
      answeredAt: 0,
      lifetimeMs: 0,
    };
    this.#entries.set(id, entry);
    return entry;
  }

  #settle(id: string, entry: Entry, status: IntentStatus): void {
    const isUpdate = this.#isUpdate(id, entry, status);
    entry.upstream = undefined;
    entry.previous = undefined;
    entry.status = status;
    entry.answeredAt = this.#now();
    entry.lifetimeMs = status.intentSubmitted ? submittedMs : pendingMs;
    if (!isUpdate) return;
    const update: StatusUpdate = { id, status, source: entry.source };
    for (const subscriber of this.#subscribers) {
      try {
        subscriber(update);
      } catch (error) {
        this.#onSubscriberError(error);
      }
    }
  }

  /** Whether the status differs from the last one that subscribers got, or that one is stale. */
  #isUpdate(id: string, entry: Entry, status: IntentStatus): boolean {
    const current = this.#entries.get(id);
    // A newer status was set while the call ran.
    if (current !== entry && current?.status) return false;
    const { previous } = entry;
    if (!previous?.status || !this.#isFresh(previous)) return true;
    const { exists, codeScanned, intentSubmitted } = previous.status;
    return exists !== status.exists || codeScanned !== status.codeScanned || intentSubmitted !== status.intentSubmitted;
  }

  #answerOrAbort(entry: Entry, signal: Abortable): Promise<IntentStatus> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        reject(signal.reason);
        entry.waiting -= 1;
        if (entry.waiting === 0) entry.upstream?.abort(signal.reason);
      };
      signal.addEventListener('abort', leave);
      const stay = (): void => signal.removeEventListener('abort', leave);
      // Not `finally`, which would create two more promises.
      entry.answer.then(
        (status) => {
          stay();
          resolve(status);
        },
        (error) => {
          stay();
          reject(error);
        },
      );
    });
  }
}

function isPending({ status }: Entry): boolean {
  return status === undefined;
}
