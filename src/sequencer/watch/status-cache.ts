import { Abort, type Abortable } from '../../async/abort.js';
import { BoundedMap } from '../../async/bounded-map.js';
import type { IntentStatus } from '../calls.js';
import type { CallOptions } from '../transport.js';

/** How the status is asked for upstream, as `getStatus` of a client. */
export type AskStatus = (id: string, options: CallOptions) => Promise<IntentStatus>;

export interface SharedStatusOptions {
  /** Ends the call early; it then rejects with the signal's reason. */
  readonly signal?: Abortable | undefined;
  /** Takes no answer from the cache, as after a hint that something has changed; shares a call that is under way. */
  readonly isFresh?: boolean | undefined;
  /** Whoever asks acts on the answer by himself: `onSubmitted` is not called for it. */
  readonly isQuiet?: boolean | undefined;
}

export interface SharedStatusSettings {
  readonly ask: AskStatus;
  /** The time, in milliseconds. */
  readonly now: () => number;
  /** Of how many intents an answer is kept; the one asked for longest ago makes room. Default 10 000. */
  readonly capacity?: number | undefined;
  /** Called whenever it is learnt that an intent was submitted, also when it was learnt before; must not throw. */
  readonly onSubmitted?: ((id: string) => void) | undefined;
}

/**
 * How long an answer counts that is not the last word, in milliseconds: a tab that asks every second sees a change as soon as
 * it would have anyway, and a thousand tabs cost one.
 */
export const pendingMs = 250;
/** Not for ever: what was submitted may be reversed until the transactions have settled. */
const submittedMs = 60_000;

interface Call {
  readonly answer: Promise<IntentStatus>;
  /** Aborted when all who waited have left: what was not sent is then not sent. Gone once the answer is there. */
  upstream: Abort | undefined;
  /** How many wait for the answer. */
  waiting: number;
  /** Whether somebody who waits for it acts on it. */
  isQuiet: boolean;
  /** The answer, once it is there. */
  status: IntentStatus | undefined;
  answeredAt: number;
  /** How long the answer is good for, in milliseconds; undefined while the call is under way. */
  lifetimeMs: number | undefined;
}

/** A call that was just begun. */
const newCall = {
  upstream: undefined,
  waiting: 0,
  isQuiet: false,
  status: undefined,
  answeredAt: 0,
  lifetimeMs: undefined,
};

/**
 * The status of intents for all who ask in this process: who asks for the same intent at the same time shares one call
 * upstream, and its answer for a short while after. A failure is shared and not kept.
 */
export class SharedStatus {
  // The oldest is the one that was asked upstream longest ago.
  readonly #calls: BoundedMap<Call>;
  readonly #ask: AskStatus;
  readonly #now: () => number;
  readonly #onSubmitted: (id: string) => void;

  constructor({ ask, now, capacity = 10_000, onSubmitted = () => undefined }: SharedStatusSettings) {
    this.#ask = ask;
    this.#now = now;
    this.#calls = new BoundedMap({ capacity });
    this.#onSubmitted = onSubmitted;
  }

  /** How many intents an answer is kept of, or waited for. */
  get size(): number {
    return this.#calls.size;
  }

  /** What is known at once, without a promise: by far the most of the questions end here. */
  known(id: string): IntentStatus | undefined {
    const call = this.#calls.get(id);
    return call?.status && this.#isUsable(call) ? call.status : undefined;
  }

  /**
   * The status, known or asked for. When all callers have left by their `signal`, a call that waits for its turn is not sent.
   * One that was sent runs to its end and is shared: to end it would close a connection that other calls need.
   * @throws {IntentError} `invalid_id` @throws {SequencerError} @throws the signal's reason
   */
  get(id: string, options: SharedStatusOptions = {}): Promise<IntentStatus> {
    const { signal, isFresh = false, isQuiet = false } = options;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const kept = this.#calls.get(id);
    const isShared = kept && this.#isUsable(kept) && !(isFresh && kept.lifetimeMs !== undefined);
    const call = isShared ? kept : this.#begin(id);
    call.isQuiet ||= isQuiet;
    if (call.lifetimeMs !== undefined) return call.answer;
    call.waiting += 1;
    const answer = signal ? this.#untilLeft(call, signal) : call.answer;
    if (!call.upstream?.aborted) return answer;
    // Left by all others, it may never be sent, and is not retried.
    return answer.catch((error) => (signal?.aborted ? Promise.reject(error) : this.get(id, options)));
  }

  /** Takes what was learnt of an intent on another way, so that nobody is told less than another was. */
  learn(id: string, status: IntentStatus): void {
    const answer = Promise.resolve(status);
    const call: Call = { answer, ...newCall };
    this.#calls.set(id, call);
    this.#settle(id, call, status);
  }

  #isUsable({ lifetimeMs, answeredAt }: Call): boolean {
    if (lifetimeMs === undefined) return true;
    const ageMs = this.#now() - answeredAt;
    // A clock that was set back must not make an answer last.
    return ageMs >= 0 && ageMs < lifetimeMs;
  }

  #begin(id: string): Call {
    const upstream = new Abort();
    const answer = this.#ask(id, { sendUntil: upstream });
    const call: Call = { answer, ...newCall, upstream };
    this.#calls.set(id, call);
    answer.then(
      (status) => this.#settle(id, call, status),
      // Whoever asks after a failure may well find the service back; one that stays down has the breaker in front.
      () => this.#drop(id, call),
    );
    return call;
  }

  #settle(id: string, call: Call, status: IntentStatus): void {
    call.upstream = undefined;
    call.status = status;
    call.answeredAt = this.#now();
    call.lifetimeMs = status.intentSubmitted ? submittedMs : pendingMs;
    if (status.intentSubmitted && !call.isQuiet) this.#onSubmitted(id);
  }

  #untilLeft(call: Call, signal: Abortable): Promise<IntentStatus> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        reject(signal.reason);
        call.waiting -= 1;
        if (call.waiting === 0) call.upstream?.abort(signal.reason);
      };
      signal.addEventListener('abort', leave);
      const stay = (): void => signal.removeEventListener('abort', leave);
      // Not by `finally`, which makes two promises more.
      call.answer.then(
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

  /** A later call may have taken its place. */
  #drop(id: string, call: Call): void {
    if (this.#calls.get(id) === call) this.#calls.delete(id);
  }
}
