// The watch of one intent, until it is submitted.
//
//     listening  -- the stream ends, breaks, has an unreadable response,
//                   or maxResponses responses ----------------------------> polling; the backoff of the stream starts
//     polling    -- the backoff ends -------------------------------------> listening
//     listening, polling  -- the status is submitted ---------------------> ended, after the event `intent_submitted`
//     listening, polling  -- the signal is aborted -----------------------> ended
//     listening, polling  -- an error that no retry can fix --------------> ended, with that error
//
// It starts in `listening` if the transport has streams and the client secret is known. Otherwise it is always polling.
//
// Both states poll the status: immediately, after 1 s, and then each time after 1.5 times as long. The interval grows to
// 5 s while polling, and to 30 s while listening. Polls while listening find what a stream that stopped responding does not
// deliver. When a stream opens, the status is polled immediately, because events may have been missed before. A scan, or
// `intent_submitted` on the stream, resets the interval to 1 s, because a change is likely to follow.
//
// `intent_submitted` on the stream is a hint. It causes a poll, and only the status ends the watch
// (protocol section 2). Each event is yielded once.

import { listenForAbort } from '../../async/abort.js';
import { Backoff, exponentialBackoffMs } from '../../async/backoff.js';
import { IntentError, SequencerError } from '../../errors.js';
import { parseIntentId } from '../../keys/base58.js';
import { operations } from '../../wire/envelope.js';
import { getStatus, type IntentStatus } from '../calls.js';
import type { Transport } from '../transport.js';
import type { IntentEvent, WatchIntent } from './intent-event.js';
import { MessageInbox, signStreamRequest } from './message-stream.js';
import type { FetchStatus } from './status-cache.js';

/** The intervals between polls, in milliseconds. */
const poll = { firstMs: 1_000, factor: 1.5 } as const;
const pollCapMs = 5_000;
const pollCapDuringStreamMs = 30_000;
/** An intent has few messages. A stream with this many responses is closed, and reopened after the backoff. */
const maxResponses = 1_024;
/** The backoff from the end of one stream to the next. A stream that lasted longer than `capMs` resets it. */
const reopen = { firstMs: 250, capMs: 10_000 } as const;

export interface WatchIntentOptions {
  /** Default: a call of the transport for each poll. */
  readonly fetchStatus?: FetchStatus | undefined;
  readonly clock?: WatchClock | undefined;
}

/** The clock, timers and randomness of a watch. Tests replace them. */
export interface WatchClock {
  readonly now: () => number;
  /** Calls `elapsed` once, after `delayMs`. @returns a function that cancels it */
  readonly startTimer: (elapsed: () => void, delayMs: number) => () => void;
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number;
}

// The timers keep the process alive: a script that waits for an event must not exit.
const systemClock: WatchClock = {
  now: () => performance.now(),
  startTimer: (elapsed, delayMs) => {
    const timer = setTimeout(elapsed, delayMs);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

/** Watches intents over a transport, by its streams if possible and by polling the status. */
export function watchIntent(transport: Transport, { fetchStatus, clock }: WatchIntentOptions = {}): WatchIntent {
  const source = {
    openStream: transport.openStream?.bind(transport),
    fetchStatus: fetchStatus ?? ((id, options) => getStatus(transport, id, options)),
    clock: clock ?? systemClock,
  };
  return (intent, { signal }) => new IntentWatch(source, intent, signal).events();
}

interface WatchSource {
  readonly openStream: Transport['openStream'] | undefined;
  readonly fetchStatus: FetchStatus;
  readonly clock: WatchClock;
}

type Events<Result> = AsyncGenerator<IntentEvent, Result>;

/** One watch. Its generators return whether the intent is submitted. */
class IntentWatch {
  readonly #source: WatchSource;
  readonly #clock: WatchClock;
  readonly #intent: Parameters<WatchIntent>[0];
  readonly #signal: AbortSignal;
  readonly #reopening: Backoff;
  #polledAtMs = Number.NEGATIVE_INFINITY;
  /** The polls since the interval was last reset. */
  #polls = 0;
  #wasScanned = false;

  constructor(source: WatchSource, intent: Parameters<WatchIntent>[0], signal: AbortSignal) {
    this.#source = source;
    this.#clock = source.clock;
    this.#intent = intent;
    this.#signal = signal;
    this.#reopening = new Backoff({ ...reopen, random: source.clock.random });
  }

  async *events(): Events<void> {
    const { id, clientSecret } = this.#intent;
    parseIntentId(id);
    const request = clientSecret === undefined ? undefined : signStreamRequest(id, clientSecret);
    const inbox = request && new MessageInbox(request.rendezvousKey);
    let openAtMs = inbox && this.#source.openStream ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    while (!this.#signal.aborted) {
      const nowMs = this.#clock.now();
      if (request && inbox && nowMs >= openAtMs) {
        if (yield* this.#listen(request.body, inbox)) return;
        const endedAtMs = this.#clock.now();
        if (endedAtMs - nowMs > reopen.capMs) this.#reopening.reset();
        openAtMs = endedAtMs + this.#reopening.nextMs();
      } else if (this.#untilPollMs(pollCapMs) <= 0) {
        if (yield* this.#poll()) return;
      } else {
        await this.#wait(Math.min(openAtMs - nowMs, this.#untilPollMs(pollCapMs)));
      }
    }
  }

  /** Opens the stream and reads it to its end. A fault is treated as its end: a later poll finds what was missed. */
  async *#listen(body: Uint8Array, inbox: MessageInbox): Events<boolean> {
    const closing = new AbortController();
    const signal = AbortSignal.any([this.#signal, closing.signal]);
    const stream = openReader(this.#source, body, signal);
    if (!stream) return false;
    try {
      let step = readStep(stream);
      if (yield* this.#poll()) return true;
      for (let responses = 0; responses < maxResponses; ) {
        await this.#wait(this.#untilPollMs(pollCapDuringStreamMs), step.arrived);
        const { response } = step;
        if (this.#signal.aborted || response === 'end') return false;
        if (response === undefined) {
          if (yield* this.#poll()) return true;
          continue;
        }
        responses += 1;
        const events = inbox.read(response);
        if (!events) return false;
        if (yield* this.#pass(events)) return true;
        step = readStep(stream);
      }
      return false;
    } finally {
      // Not awaited: a reader that hangs must not delay the end of the watch.
      closing.abort();
      stream.return?.().catch(() => undefined);
    }
  }

  async *#pass(events: readonly IntentEvent[]): Events<boolean> {
    for (const event of events) {
      if (event.kind === 'intent_submitted') {
        // The status may lag behind the stream: it is polled now, and again soon.
        this.#polls = 0;
        if (yield* this.#poll()) return true;
      } else if (event.kind === 'code_scanned') {
        yield* this.#scanned(event);
      } else {
        yield event;
      }
    }
    return false;
  }

  async *#poll(): Events<boolean> {
    const status = await this.#status();
    this.#polledAtMs = this.#clock.now();
    this.#polls += 1;
    if (status?.codeScanned) yield* this.#scanned();
    if (!status?.intentSubmitted) return false;
    yield { kind: 'intent_submitted', id: 'intent_submitted' };
    return true;
  }

  /** Yields the scan once, from the stream or from the status. */
  async *#scanned(event?: IntentEvent): Events<void> {
    if (this.#wasScanned) return;
    this.#wasScanned = true;
    this.#polls = 0;
    yield { ...event, kind: 'code_scanned', id: 'code_scanned' };
  }

  async #status(): Promise<IntentStatus | undefined> {
    try {
      return await this.#source.fetchStatus(this.#intent.id, { signal: this.#signal });
    } catch (error) {
      if (this.#signal.aborted || isTransient(error)) return undefined;
      throw error;
    }
  }

  #untilPollMs(capMs: number): number {
    const intervalMs = exponentialBackoffMs({ ...poll, capMs }, Math.max(0, this.#polls - 1));
    return this.#polledAtMs + intervalMs - this.#clock.now();
  }

  /** Waits until the delay is over or one of the signals is aborted. Leaves no timer and no listener. */
  #wait(delayMs: number, ...others: AbortSignal[]): Promise<void> {
    const signals = [this.#signal, ...others];
    return new Promise((resolve) => {
      const finish = (): void => {
        stopTimer();
        unlisten();
        resolve();
      };
      const stopTimer = this.#clock.startTimer(finish, Math.max(0, delayMs));
      const unlisten = listenForAbort(signals, finish);
      if (signals.some(({ aborted }) => aborted)) finish();
    });
  }
}

function openReader(
  { openStream }: WatchSource,
  body: Uint8Array,
  signal: AbortSignal,
): AsyncIterator<Uint8Array> | undefined {
  try {
    return openStream?.(operations.openMessageStream, body, { signal })[Symbol.asyncIterator]();
  } catch {
    return undefined;
  }
}

/**
 * The next response of a stream. Its arrival aborts a signal instead of resolving a promise, because every wait would add a
 * callback to the pending promise.
 */
interface StreamStep {
  /** Aborted when the response arrives. */
  readonly arrived: AbortSignal;
  /** Undefined until then. A fault of the stream counts as its end. */
  response: Uint8Array | 'end' | undefined;
}

function readStep(stream: AsyncIterator<Uint8Array>): StreamStep {
  const arrival = new AbortController();
  const step: StreamStep = { arrived: arrival.signal, response: undefined };
  const arrive = (response: StreamStep['response']): void => {
    step.response = response;
    arrival.abort();
  };
  stream.next().then(
    ({ done, value }) => arrive(done ? 'end' : value),
    () => arrive('end'),
  );
  return step;
}

/** Whether the next poll may succeed. */
function isTransient(error: unknown): boolean {
  return error instanceof SequencerError || (error instanceof IntentError && error.code === 'too_busy');
}
