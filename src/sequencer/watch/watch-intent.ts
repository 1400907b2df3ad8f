import { Backoff } from '../../async/backoff.js';
import { IntentError, SequencerError } from '../../errors.js';
import { parseIntentId } from '../../keys/base58.js';
import { operations } from '../../wire/envelope.js';
import { getStatus, type IntentStatus } from '../calls.js';
import type { Transport } from '../transport.js';
import type { IntentEvent, WatchIntent } from './intent-event.js';
import { MessageInbox } from './message-inbox.js';
import type { AskStatus } from './status-cache.js';
import { signStreamRequest } from './stream-request.js';
import { systemTiming, type WatchTiming, waitFor } from './watch-timing.js';

/** From one question for the status to the next: each time half as long again. In milliseconds. */
const ask = { firstMs: 1_000, growth: 1.5, capMs: 5_000 } as const;
/** A stream that is open tells by itself; a question now and then finds the one that has gone deaf. */
const askBesideStreamCapMs = 30_000;
/** An intent has a handful of messages: a stream that has brought so many is given up, and opened again later and later. */
const maxResponses = 1_024;
/** From the end of one stream to the opening of the next; one that lived longer than the cap went well. */
const reopen = { firstMs: 250, capMs: 10_000 } as const;

export interface WatchIntentOptions {
  /** Default: by a call of its own each time. */
  readonly askStatus?: AskStatus | undefined;
  readonly timing?: WatchTiming | undefined;
}

/**
 * Makes the watch of intents over a transport: by its streams, where it has them and the client secret is known, and by
 * asking for the status, which is what counts (protocol section 2).
 */
export function watchIntent(transport: Transport, { askStatus, timing }: WatchIntentOptions = {}): WatchIntent {
  const way = {
    openStream: transport.openStream?.bind(transport),
    askStatus: askStatus ?? ((id, options) => getStatus(transport, id, options)),
    timing: timing ?? systemTiming,
  };
  return (intent, { signal }) => new IntentWatch(way, intent, signal).events();
}

/** What all watches of a transport share. */
interface Way {
  readonly openStream: Transport['openStream'] | undefined;
  readonly askStatus: AskStatus;
  readonly timing: WatchTiming;
}

type Events<Result> = AsyncGenerator<IntentEvent, Result>;

/** One watch. Its parts that yield events give back whether the intent was submitted. */
class IntentWatch {
  readonly #way: Way;
  readonly #timing: WatchTiming;
  readonly #intent: Parameters<WatchIntent>[0];
  readonly #signal: AbortSignal;
  readonly #reopening: Backoff;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #asked = 0;
  #wasScanned = false;

  constructor(way: Way, intent: Parameters<WatchIntent>[0], signal: AbortSignal) {
    this.#way = way;
    this.#timing = way.timing;
    this.#intent = intent;
    this.#signal = signal;
    this.#reopening = new Backoff({ ...reopen, random: way.timing.random });
  }

  async *events(): Events<void> {
    const { id, clientSecret } = this.#intent;
    parseIntentId(id);
    const request = clientSecret === undefined ? undefined : signStreamRequest(id, clientSecret);
    const inbox = request && new MessageInbox(request.rendezvousKey);
    let openAtMs = inbox && this.#way.openStream ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    while (!this.#signal.aborted) {
      const nowMs = this.#timing.now();
      if (request && inbox && nowMs >= openAtMs) {
        if (yield* this.#listen(request.body, inbox)) return;
        const endedAtMs = this.#timing.now();
        if (endedAtMs - nowMs > reopen.capMs) this.#reopening.reset();
        openAtMs = endedAtMs + this.#reopening.nextMs();
      } else if (this.#untilAskMs(ask.capMs) <= 0) {
        if (yield* this.#ask()) return;
      } else {
        await this.#wait(Math.min(openAtMs - nowMs, this.#untilAskMs(ask.capMs)));
      }
    }
  }

  /** Opens the stream and hears it to its end. A fault ends it like any other end: what was missed is asked for. */
  async *#listen(body: Uint8Array, inbox: MessageInbox): Events<boolean> {
    const leaving = new AbortController();
    const signal = AbortSignal.any([this.#signal, leaving.signal]);
    const stream = readerOf(this.#way, body, signal);
    if (!stream) return false;
    try {
      let next = nextOf(stream);
      if (yield* this.#ask()) return true;
      for (let heard = 0; heard < maxResponses; ) {
        await this.#wait(this.#untilAskMs(askBesideStreamCapMs), next.arrived);
        const { response } = next;
        if (this.#signal.aborted || response === 'over') return false;
        if (response === undefined) {
          if (yield* this.#ask()) return true;
          continue;
        }
        heard += 1;
        const events = inbox.read(response);
        if (!events) return false;
        if (yield* this.#pass(events)) return true;
        next = nextOf(stream);
      }
      return false;
    } finally {
      // Not waited for: a reader that hangs must not hold up whoever leaves.
      leaving.abort();
      stream.return?.().catch(() => undefined);
    }
  }

  async *#pass(events: readonly IntentEvent[]): Events<boolean> {
    for (const event of events) {
      if (event.kind === 'intent_submitted') {
        // Now is the time to ask; and to ask again soon, should the status be a little behind.
        this.#asked = 0;
        if (yield* this.#ask()) return true;
      } else if (event.kind === 'code_scanned') {
        yield* this.#scanned(event);
      } else {
        yield event;
      }
    }
    return false;
  }

  async *#ask(): Events<boolean> {
    const status = await this.#status();
    this.#askedAtMs = this.#timing.now();
    this.#asked += 1;
    if (status?.codeScanned) yield* this.#scanned();
    if (!status?.intentSubmitted) return false;
    yield { kind: 'intent_submitted', id: 'intent_submitted' };
    return true;
  }

  /** Once, whichever way it was learnt. Whoever scanned the code is likely to confirm soon. */
  async *#scanned(event?: IntentEvent): Events<void> {
    if (this.#wasScanned) return;
    this.#wasScanned = true;
    this.#asked = 0;
    yield { ...event, kind: 'code_scanned', id: 'code_scanned' };
  }

  async #status(): Promise<IntentStatus | undefined> {
    try {
      return await this.#way.askStatus(this.#intent.id, { signal: this.#signal });
    } catch (error) {
      if (this.#signal.aborted || isPassing(error)) return undefined;
      throw error;
    }
  }

  #untilAskMs(capMs: number): number {
    const delayMs = Math.min(capMs, ask.firstMs * ask.growth ** Math.max(0, this.#asked - 1));
    return this.#askedAtMs + delayMs - this.#timing.now();
  }

  #wait(delayMs: number, ...others: AbortSignal[]): Promise<void> {
    return waitFor({ delayMs: Math.max(0, delayMs), signals: [this.#signal, ...others] }, this.#timing);
  }
}

function readerOf({ openStream }: Way, body: Uint8Array, signal: AbortSignal): AsyncIterator<Uint8Array> | undefined {
  try {
    return openStream?.(operations.openMessageStream, body, { signal })[Symbol.asyncIterator]();
  } catch {
    return undefined;
  }
}

/**
 * What comes next on a stream. Told by a signal, because whoever waits for a promise again and again leaves a trace in it
 * each time, and a stream can be quiet for days.
 */
interface StreamStep {
  /** Aborted when there is a response, or will be none. */
  readonly arrived: AbortSignal;
  /** Undefined until then. A fault of the stream is an end of it. */
  response: Uint8Array | 'over' | undefined;
}

function nextOf(stream: AsyncIterator<Uint8Array>): StreamStep {
  const arrival = new AbortController();
  const step: StreamStep = { arrived: arrival.signal, response: undefined };
  const arrive = (response: StreamStep['response']): void => {
    step.response = response;
    arrival.abort();
  };
  stream.next().then(
    ({ done, value }) => arrive(done ? 'over' : value),
    () => arrive('over'),
  );
  return step;
}

/** What may be gone at the next try. */
function isPassing(error: unknown): boolean {
  return error instanceof SequencerError || (error instanceof IntentError && error.code === 'too_busy');
}
