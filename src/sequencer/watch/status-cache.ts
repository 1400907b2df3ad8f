import { Abort, type Abortable } from '../../async/abort.js';
import { BoundedMap } from '../../async/bounded-map.js';
import type { IntentStatus } from '../calls.js';
import type { CallOptions } from '../transport.js';

/** Calls the service for the status of an intent, as `getStatus` of a client does. */
export type AskStatus = (id: string, options: CallOptions) => Promise<IntentStatus>;

/**
 * Why a status was read: a page asked for it (`status`), the watch of an event stream polled, a webhook call came, or the
 * ledger polled. A call that several share has the source that comes last in this list.
 */
export type StatusSource = (typeof sources)[number];
const sources = ['status', 'stream', 'webhook', 'ledger'] as const;

/** A status that differs from the one that was known, or whose predecessor has expired. */
export interface StatusUpdate {
  readonly id: string;
  readonly status: IntentStatus;
  readonly source: StatusSource;
}

export interface StatusReadOptions {
  /** Ends the wait early; it then rejects with the signal's reason. */
  readonly signal?: Abortable | undefined;
  /** Takes no answer from the cache. Shares a call that is under way. */
  readonly bypassCache?: boolean | undefined;
  /** Default `status`. */
  readonly source?: StatusSource | undefined;
}

export interface StatusCacheOptions {
  readonly ask: AskStatus;
  /** The time, in milliseconds. */
  readonly now: () => number;
  /** How many intents it holds; the one whose call is oldest makes room. Default 10 000. */
  readonly capacity?: number | undefined;
  /** Called with what a subscriber throws. The other subscribers and the callers still get the status. */
  readonly onSubscriberError?: ((error: unknown) => void) | undefined;
}

/**
 * How long a status is good for while the intent is not submitted, in milliseconds: a page that polls every second notices
 * no delay, and a thousand pages cost one call.
 */
export const pendingMs = 250;
/** The same once it is submitted. Limited, because a submission may be reversed until its transactions have settled. */
const submittedMs = 60_000;

/**
 * An intent in the cache.
 *
 * - under way: a call upstream runs, and callers share its `answer`. When all of them have left, a call that was not sent yet
 *   is not sent. One that was sent runs to its end, because ending it would close a connection that other calls need.
 * - answered: by that call, or by `set`. The status is good for `lifetimeMs`. Then, and at a read that bypasses the cache, a
 *   new entry that is under way takes its place.
 * - failed: out of the cache at once, so that the next caller tries again.
 */
interface Entry {
  readonly answer: Promise<IntentStatus>;
  source: StatusSource;
  /** Aborted when no caller waits any more. Undefined once there is an answer. */
  upstream: Abort | undefined;
  /** How many callers wait for the answer. */
  waiting: number;
  /** The entry whose place this one has taken, where that was answered. Undefined once this one is. */
  previous: Entry | undefined;
  status: IntentStatus | undefined;
  answeredAt: number;
  /** How long the status is good for, in milliseconds. */
  lifetimeMs: number;
}

/**
 * What this process knows of the status of intents. Every status that is read passes it, for whatever reason: callers that
 * want the same one share a call upstream, and the subscribers learn every change.
 */
export class StatusCache {
  readonly #entries: BoundedMap<Entry>;
  readonly #ask: AskStatus;
  readonly #now: () => number;
  readonly #onSubscriberError: (error: unknown) => void;
  readonly #subscribers: ((update: StatusUpdate) => void)[] = [];

  constructor({ ask, now, capacity = 10_000, onSubscriberError = () => undefined }: StatusCacheOptions) {
    this.#ask = ask;
    this.#now = now;
    this.#onSubscriberError = onSubscriberError;
    this.#entries = new BoundedMap({ capacity });
  }

  /** How many intents it holds. */
  get size(): number {
    return this.#entries.size;
  }

  /** Calls `subscriber` with every update from now on, before callers that wait have the answer. */
  subscribe(subscriber: (update: StatusUpdate) => void): void {
    this.#subscribers.push(subscriber);
  }

  /** The status where it is known, without a promise: most requests end here. */
  peek(id: string): IntentStatus | undefined {
    const entry = this.#entries.get(id);
    return entry && this.#isGood(entry) ? entry.status : undefined;
  }

  /**
   * The status, from the cache or from the service.
   * @throws {IntentError} `invalid_id` @throws {SequencerError} @throws the signal's reason
   */
  get(id: string, options: StatusReadOptions = {}): Promise<IntentStatus> {
    const { signal, bypassCache = false, source = 'status' } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const found = this.#entries.get(id);
    const isShared = found && (isUnderWay(found) || (!bypassCache && this.#isGood(found)));
    const entry = isShared ? found : this.#call(id);
    if (!isUnderWay(entry)) return entry.answer;
    entry.waiting += 1;
    if (sources.indexOf(source) > sources.indexOf(entry.source)) entry.source = source;
    const answer = signal ? this.#untilLeft(entry, signal) : entry.answer;
    if (!entry.upstream?.aborted) return answer;
    // All others have left, so it may never be sent, and a failure of it is not retried.
    return answer.catch((error) => (signal?.aborted ? Promise.reject(error) : this.get(id, options)));
  }

  /** Takes a status that was learnt in another way, which counts also against a call that is under way. */
  set(id: string, status: IntentStatus, source: StatusSource): void {
    const entry = this.#add(id, Promise.resolve(status), undefined);
    entry.source = source;
    this.#settle(id, entry, status);
  }

  #isGood({ status, answeredAt, lifetimeMs }: Entry): boolean {
    const ageMs = this.#now() - answeredAt;
    // The age is negative when the clock was set back; the status must not last for it.
    return status !== undefined && ageMs >= 0 && ageMs < lifetimeMs;
  }

  #call(id: string): Entry {
    const upstream = new Abort();
    const answer = this.#ask(id, { cancelBeforeSend: upstream });
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

  /** Whether the status differs from what subscribers know, or what they know has expired. */
  #isUpdate(id: string, entry: Entry, status: IntentStatus): boolean {
    const current = this.#entries.get(id);
    // The status was set while the call was under way: the answer may be older.
    if (current !== entry && current?.status) return false;
    const { previous } = entry;
    if (!previous?.status || !this.#isGood(previous)) return true;
    const { exists, codeScanned, intentSubmitted } = previous.status;
    return exists !== status.exists || codeScanned !== status.codeScanned || intentSubmitted !== status.intentSubmitted;
  }

  #untilLeft(entry: Entry, signal: Abortable): Promise<IntentStatus> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        reject(signal.reason);
        entry.waiting -= 1;
        if (entry.waiting === 0) entry.upstream?.abort(signal.reason);
      };
      signal.addEventListener('abort', leave);
      const stay = (): void => signal.removeEventListener('abort', leave);
      // Not by `finally`, which makes two promises more.
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

function isUnderWay({ status }: Entry): boolean {
  return status === undefined;
}
