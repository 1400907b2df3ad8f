import type { Settings } from '../options.js';
import { attempt } from '../validation.js';
import { call, type Status } from './api.js';
import { backoffMs } from './retry.js';

/**
 * What a watch reports. The service knows the intent (`created`) or does not (`unknown`). `scanned` and `rejected` are for
 * display; only `submitted` counts. `offline`: neither stream nor status answers.
 */
export type WatchSignal = 'created' | 'unknown' | 'scanned' | 'rejected' | 'submitted' | 'offline';

const pollMs = 1_000;
const slowPollMs = 5_000;
/** Detects a stream that died without an error. */
const pollBesideStreamMs = 15_000;
/** A return to the page fires several events at once. */
const sameReturnMs = 300;
const maxWatchMs = 3_600_000;

/**
 * Watches one intent until it is stopped, for at most an hour.
 *
 * - streaming: the event stream is alive. A poll every 15 s checks it.
 * - polling: no live stream. Polls every second, with backoff while polls fail.
 * - slow: the code is no longer on the screen. No stream, a poll every 5 s.
 * - suspended: the page is hidden or offline. No polls; offline and pages that are left also close the stream.
 *   When the page is visible again, it polls at once and reopens the stream.
 * - stopped: final.
 */
export class Watch {
  readonly id: string;
  /** The settings at the start of the watch. The button may have another order by now. */
  readonly settings: Settings;
  /** Set by the flow, because each poll reports `scanned` again. */
  isScanned = false;
  readonly #onSignal: (signal: WatchSignal) => void;
  readonly #stream: EventStream;
  readonly #stopped = new AbortController();
  #poll: AbortController | undefined;
  #polledAtMs = 0;
  #failures = 0;
  #isSlow = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string, settings: Settings, onSignal: (signal: WatchSignal) => void) {
    const { events } = settings.routes;
    this.id = id;
    this.settings = settings;
    this.#onSignal = onSignal;
    this.#stream = new EventStream(
      events && `${events}/${id}/events`,
      (signal) => {
        this.#failures = 0;
        onSignal(signal);
        this.#schedule();
      },
      () => this.#schedule(),
    );
    for (const event of ['visibilitychange', 'pageshow', 'online', 'focus', 'pagehide', 'offline'])
      addEventListener(event, (event) => this.#onPageEvent(event), { signal: this.#stopped.signal });
    setTimeout(() => this.stop(), maxWatchMs);
    this.#stream.open();
    this.#schedule();
  }

  /** Polls the status now. */
  async poll(): Promise<void> {
    const { status } = this.settings.routes;
    this.#poll?.abort();
    const poll = new AbortController();
    this.#poll = poll;
    this.#polledAtMs = Date.now();
    clearTimeout(this.#timer);
    const answer = await call<Status>(status && `${status}/${this.id}`, poll.signal).catch(() => undefined);
    if (poll.signal.aborted) return;
    this.#failures = answer ? 0 : this.#failures + 1;
    if (answer) this.#onSignal(signalOf(answer));
    else if (!this.#stream.isAlive && (this.#failures > 1 || !navigator.onLine)) this.#onSignal('offline');
    this.#schedule();
  }

  /** Closes the stream, which would count against the limit of the site, and polls less often. */
  slowDown(): void {
    this.#isSlow = true;
    this.#stream.close();
    this.#schedule();
  }

  stop(): void {
    this.#stopped.abort();
    this.#poll?.abort();
    this.#stream.close();
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#stopped.signal.aborted || document.hidden || !this.settings.routes.status) return;
    const intervalMs = this.#stream.isAlive ? pollBesideStreamMs : this.#isSlow ? slowPollMs : pollMs;
    this.#timer = setTimeout(() => this.poll(), this.#failures ? backoffMs(this.#failures) : intervalMs);
  }

  /** A phone freezes hidden pages, and their connections end without an event. */
  #onPageEvent({ type }: Event): void {
    // Without a network the stream looks alive for a long time. The browser reports it at once.
    if (type === 'offline') this.#onSignal(type);
    // Browsers do not cache a page with an open stream for back navigation.
    if (/pagehide|offline/.test(type)) this.#stream.close();
    else if (!document.hidden) {
      if (!this.#isSlow) this.#stream.open();
      if (Date.now() - this.#polledAtMs > sameReturnMs) void this.poll();
    }
  }
}

/** The signal is the second word of an event's name. `status` has its signal in the data. */
const streamEvents = ['status', 'code_scanned', 'client_rejected_payment', 'client_rejected_login', 'intent_submitted'];

/** `EventSource.CLOSED`. */
const closedState = 2;

/**
 * The event stream of an intent. It is alive after its first event, because a proxy may buffer it. The browser reopens a
 * stream that ended, but not one that was answered with an error, such as a proxy's 502; this class reopens that one.
 */
class EventStream {
  isAlive = false;
  readonly #url: string | false;
  readonly #onSignal: (signal: WatchSignal) => void;
  readonly #onDeath: () => void;
  #source: EventSource | undefined;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(url: string | false, onSignal: (signal: WatchSignal) => void, onDeath: () => void) {
    this.#url = url;
    this.#onSignal = onSignal;
    this.#onDeath = onDeath;
  }

  open(): void {
    if (this.#source || !this.#url) return;
    const source = new EventSource(this.#url);
    this.#source = source;
    for (const event of streamEvents) {
      source.addEventListener(event, ({ data }) => {
        this.isAlive = true;
        this.#failures = 0;
        this.#onSignal(
          (event.split('_')[1] as WatchSignal | undefined) ?? signalOf(attempt(() => JSON.parse(data)) ?? {}),
        );
      });
    }
    source.onerror = () => {
      const wasAlive = this.isAlive;
      this.isAlive = false;
      if (source.readyState === closedState) {
        this.close();
        // At most 3 s, so that all streams are back within 5 s of a restart. A page that is shown again reopens at once.
        this.#failures += 1;
        this.#timer = setTimeout(() => document.hidden || this.open(), backoffMs(Math.min(this.#failures, 2)));
      }
      if (wasAlive) this.#onDeath();
    };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
    this.isAlive = false;
  }
}

const signalOf = ({ exists, code_scanned: isScanned, intent_submitted: isSubmitted }: Status): WatchSignal =>
  isSubmitted ? 'submitted' : isScanned ? 'scanned' : exists ? 'created' : 'unknown';
