// The watch of one intent, from its creation to its submission.
//
//   polling    asks for the status after 1 s, then each time after 1.5 times as long, up to 5 s
//     -> listening   when the transport has streams, the client secret is known, and the backoff of the last stream is over
//     -> over        when the status says submitted
//   listening  holds one message stream open; asks for the status when it opens (what was missed), and then each time
//              after 1.5 times as long, up to 30 s, which finds a stream that stopped responding without closing
//     -> polling     when the stream ends, breaks, brings unreadable bytes or too many of them; the backoff starts
//     -> over        when the status says submitted
//   over       ends both early when the signal is aborted, and with an error that no retry can fix
//
// `intent_submitted` on the stream is a hint: the status is asked for at once, and only its answer ends the watch (protocol
// section 2). A scan or such a hint restarts the intervals, because a change is likely to follow. Each event is yielded once.

import { listenForAbort } from '../../async/abort.js';
import { Backoff, exponentialBackoffMs } from '../../async/backoff.js';
import { IntentError, SequencerError } from '../../errors.js';
import { parseIntentId } from '../../keys/base58.js';
import { operations } from '../../wire/envelope.js';
import { getStatus, type IntentStatus } from '../calls.js';
import type { Transport } from '../transport.js';
import type { IntentEvent, WatchIntent } from './intent-event.js';
import { MessageInbox, signStreamRequest } from './message-stream.js';
import type { AskStatus } from './status-cache.js';

/** From one status request to the next, in milliseconds. */
const poll = { firstMs: 1_000, factor: 1.5 } as const;
const pollCapMs = 5_000;
const pollCapBesideStreamMs = 30_000;
/** An intent has a handful of messages. A stream with so many responses is closed, and reopened with backoff. */
const maxResponses = 1_024;
/** From the end of one stream to the opening of the next. A stream that lived longer than the cap was a success. */
const reopen = { firstMs: 250, capMs: 10_000 } as const;

export interface WatchIntentOptions {
  /** Default: a call of its own each time. */
  readonly askStatus?: AskStatus | undefined;
  readonly timing?: WatchTiming | undefined;
}

/** Time and chance of a watch. Tests bring their own. */
export interface WatchTiming {
  /** A clock that never goes back, in milliseconds. */
  readonly now: () => number;
  /** Calls `elapsed` once, after `delayMs`. @returns a function that cancels it */
  readonly startTimer: (elapsed: () => void, delayMs: number) => () => void;
  /** 0 up to but not 1. */
  readonly random: () => number;
}

// The timer keeps the process alive: a script that waits for an event must not end in between.
const systemTiming: WatchTiming = {
  now: () => performance.now(),
  startTimer: (elapsed, delayMs) => {
    const timer = setTimeout(elapsed, delayMs);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

/** Makes the watch of intents over a transport: over its streams where possible, and by polling the status. */
export function watchIntent(transport: Transport, { askStatus, timing }: WatchIntentOptions = {}): WatchIntent {
  const source = {
    openStream: transport.openStream?.bind(transport),
    askStatus: askStatus ?? ((id, options) => getStatus(transport, id, options)),
    timing: timing ?? systemTiming,
  };
  return (intent, { signal }) => new IntentWatch(source, intent, signal).events();
}

/** What all watches of a transport share. */
interface WatchSource {
  readonly openStream: Transport['openStream'] | undefined;
  readonly askStatus: AskStatus;
  readonly timing: WatchTiming;
}

type Events<Result> = AsyncGenerator<IntentEvent, Result>;

/** One watch. The parts that yield events return whether the intent is submitted. */
class IntentWatch {
  readonly #source: WatchSource;
  readonly #timing: WatchTiming;
  readonly #intent: Parameters<WatchIntent>[0];
  readonly #signal: AbortSignal;
  readonly #reopening: Backoff;
  #polledAtMs = Number.NEGATIVE_INFINITY;
  /** Since the intervals were restarted. */
  #polls = 0;
  #wasScanned = false;

  constructor(source: WatchSource, intent: Parameters<WatchIntent>[0], signal: AbortSignal) {
    this.#source = source;
    this.#timing = source.timing;
    this.#intent = intent;
    this.#signal = signal;
    this.#reopening = new Backoff({ ...reopen, random: source.timing.random });
  }

  async *events(): Events<void> {
    const { id, clientSecret } = this.#intent;
    parseIntentId(id);
    const request = clientSecret === undefined ? undefined : signStreamRequest(id, clientSecret);
    const inbox = request && new MessageInbox(request.rendezvousKey);
    let openAtMs = inbox && this.#source.openStream ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    while (!this.#signal.aborted) {
      const nowMs = this.#timing.now();
      if (request && inbox && nowMs >= openAtMs) {
        if (yield* this.#listen(request.body, inbox)) return;
        const endedAtMs = this.#timing.now();
        if (endedAtMs - nowMs > reopen.capMs) this.#reopening.reset();
        openAtMs = endedAtMs + this.#reopening.nextMs();
      } else if (this.#untilPollMs(pollCapMs) <= 0) {
        if (yield* this.#poll()) return;
      } else {
        await this.#wait(Math.min(openAtMs - nowMs, this.#untilPollMs(pollCapMs)));
      }
    }
  }

  /** Opens the stream and reads it to its end. A fault ends it like any other end: polling finds what was missed. */
  async *#listen(body: Uint8Array, inbox: MessageInbox): Events<boolean> {
    const closing = new AbortController();
    const signal = AbortSignal.any([this.#signal, closing.signal]);
    const stream = openReader(this.#source, body, signal);
    if (!stream) return false;
    try {
      let step = readStep(stream);
      if (yield* this.#poll()) return true;
      for (let responses = 0; responses < maxResponses; ) {
        await this.#wait(this.#untilPollMs(pollCapBesideStreamMs), step.settled);
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
      // Not awaited: a reader that hangs must not hold up the end of the watch.
      closing.abort();
      stream.return?.().catch(() => undefined);
    }
  }

  async *#pass(events: readonly IntentEvent[]): Events<boolean> {
    for (const event of events) {
      if (event.kind === 'intent_submitted') {
        // The status may be a little behind: it is asked for now, and soon again.
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
    this.#polledAtMs = this.#timing.now();
    this.#polls += 1;
    if (status?.codeScanned) yield* this.#scanned();
    if (!status?.intentSubmitted) return false;
    yield { kind: 'intent_submitted', id: 'intent_submitted' };
    return true;
  }

  /** Yields the scan once, whether the stream or the status brought it first. */
  async *#scanned(event?: IntentEvent): Events<void> {
    if (this.#wasScanned) return;
    this.#wasScanned = true;
    this.#polls = 0;
    yield { ...event, kind: 'code_scanned', id: 'code_scanned' };
  }

  async #status(): Promise<IntentStatus | undefined> {
    try {
      return await this.#source.askStatus(this.#intent.id, { signal: this.#signal });
    } catch (error) {
      if (this.#signal.aborted || isPassing(error)) return undefined;
      throw error;
    }
  }

  #untilPollMs(capMs: number): number {
    const intervalMs = exponentialBackoffMs({ ...poll, capMs }, Math.max(0, this.#polls - 1));
    return this.#polledAtMs + intervalMs - this.#timing.now();
  }

  /** Until the delay is over or one of the signals is aborted. Leaves no timer and no listener. */
  #wait(delayMs: number, ...others: AbortSignal[]): Promise<void> {
    const signals = [this.#signal, ...others];
    return new Promise((resolve) => {
      const finish = (): void => {
        stopTimer();
        unlisten();
        resolve();
      };
      const stopTimer = this.#timing.startTimer(finish, Math.max(0, delayMs));
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
 * The next response of a stream. It settles a signal and not a promise: each wait for a promise leaves a reaction in it, and a
 * stream can be silent for days.
 */
interface StreamStep {
  /** Aborted when the response is there. */
  readonly settled: AbortSignal;
  /** Undefined before that. A fault of the stream is an end of it. */
  response: Uint8Array | 'end' | undefined;
}

function readStep(stream: AsyncIterator<Uint8Array>): StreamStep {
  const arrival = new AbortController();
  const step: StreamStep = { settled: arrival.signal, response: undefined };
  const settle = (response: StreamStep['response']): void => {
    step.response = response;
    arrival.abort();
  };
  stream.next().then(
    ({ done, value }) => settle(done ? 'end' : value),
    () => settle('end'),
  );
  return step;
}

/** Whether the next poll may succeed. */
function isPassing(error: unknown): boolean {
  return error instanceof SequencerError || (error instanceof IntentError && error.code === 'too_busy');
}
