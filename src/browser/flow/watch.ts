import { fromJson, NativePromise } from '../built-ins.js';
import type { Settings } from '../options.js';
import { siteConfig } from '../site-config.js';
import { tryOrUndefined } from '../validation.js';
import { isServiceFailure, type Problem, requestJson, type Status } from './api.js';
import { shareWithNextPage, unsharePending } from './pending-intents.js';
import { backoffMs } from './retry.js';

/**
 * What a watch reports. The service knows the intent (`created`) or does not (`unknown`). `scanned` and `declined` are for
 * display; only `submitted` counts. `offline`: neither stream nor status answers. `silent`: the site answers, but its call
 * to the service failed. `ended`: the time of the watch is over.
 */
export type WatchSignal = 'created' | 'unknown' | 'scanned' | 'declined' | 'submitted' | 'offline' | 'silent' | 'ended';

/** A code that can be shown again. */
export interface ReopenableCode {
  readonly secret: string;
  readonly expiresAtMs: number;
}

const pollMs = 1_000;
const slowPollMs = 5_000;
/** Detects a stream that stopped without an error. */
const pollDuringStreamMs = 15_000;
/** The browser fires several events when the page is shown again. */
const pageEventThrottleMs = 300;
/** How long the watch of a payment continues after the code has expired. */
const watchAfterExpiryMs = 3_600_000;

/**
 * Watches one intent until it is stopped. A payment is watched for at most `expiresInMs` plus an hour, a login only as long as
 * it can be completed.
 *
 * - streaming: the event stream is alive. A poll every 15 s checks it.
 * - polling: no live stream. Polls every second, with backoff while polls fail.
 * - slow: the code is no longer on the screen. No stream, a poll every 5 s. Without a status route
 *   a watch never becomes slow.
 * - suspended: the page is hidden. No polls. When it is visible again, the watch polls immediately and reopens the stream.
 * - stopped: final.
 *
 * Going offline or leaving the page closes the stream.
 */
export class Watch {
  readonly id: string;
  /** The settings at the start of the watch. The order of the button can change later. */
  readonly settings: Settings;
  /** Set by the flow. Each poll reports `scanned` again. */
  isScanned = false;
  /** Set by the flow. A wallet that declined does not pay later. */
  isDeclined = false;
  /** Set by the flow while this page can show the code of the intent again. */
  code: ReopenableCode | undefined;
  /** Set by the flow. Whether the page provided the client secret, and completes the login itself. */
  isFromPage = false;
  readonly #onSignal: (signal: WatchSignal) => void;
  readonly #stream: EventStream;
  readonly #stopped = new AbortController();
  #poll: AbortController | undefined;
  #lastPoll: Promise<boolean> = NativePromise.resolve(true);
  #polledAtMs = 0;
  #failures = 0;
  #isSlow = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #endTimer: ReturnType<typeof setTimeout>;

  constructor(
    id: string,
    settings: Settings,
    onSignal: (signal: WatchSignal) => void,
    onDescription: (description: string) => void,
  ) {
    const { mode, expiresInMs, routes } = settings;
    this.id = id;
    this.settings = settings;
    this.#onSignal = onSignal;
    this.#stream = new EventStream(
      routes.events && `${routes.events}/${id}/events`,
      (signal) => {
        this.#failures = 0;
        onSignal(signal);
        this.#schedule();
      },
      onDescription,
      () => this.#schedule(),
    );
    for (const event of ['visibilitychange', 'pageshow', 'online', 'focus', 'pagehide', 'offline'])
      addEventListener(event, (event) => this.#onPageEvent(event), { signal: this.#stopped.signal });
    const watchedMs =
      mode === 'login' ? Math.max(expiresInMs, siteConfig.loginTtlMs) : expiresInMs + watchAfterExpiryMs;
    this.#endTimer = setTimeout(() => onSignal('ended'), watchedMs);
    this.#stream.open();
    this.#schedule();
  }

  /** Whether the last poll failed or the browser is offline. */
  get isFailing(): boolean {
    return this.#failures > 0 || !navigator.onLine;
  }

  /** Polls the status now. @returns whether this poll, or a later one that replaced it, received the status, or the route is disabled */
  poll(): Promise<boolean> {
    this.#poll?.abort();
    this.#poll = new AbortController();
    this.#lastPoll = this.#request(this.#poll.signal);
    return this.#lastPoll;
  }

  async #request(signal: AbortSignal): Promise<boolean> {
    const { status } = this.settings.routes;
    if (!status) return true;
    this.#polledAtMs = Date.now();
    clearTimeout(this.#timer);
    let problem: Problem | undefined;
    const answer = await requestJson<Status>(`${status}/${this.id}`, signal).catch((error) => {
      problem = error;
    });
    if (signal.aborted) return !this.#stopped.signal.aborted && this.#lastPoll;
    this.#failures = answer ? 0 : this.#failures + 1;
    // A single failure is not displayed.
    const isFailing = this.#failures > 1 || !navigator.onLine;
    if (answer) this.#onSignal(signalOf(answer));
    else if (isFailing && problem && isServiceFailure(problem)) this.#onSignal('silent');
    else if (isFailing && !this.#stream.isAlive) this.#onSignal('offline');
    this.#schedule();
    return !!answer;
  }

  /** Polls less often and closes the stream, which counts against the connection limit of the site. */
  slowDown(): void {
    // Only the stream can report the payment.
    if (!this.settings.routes.status) return;
    this.#isSlow = true;
    this.#stream.close();
    this.#schedule();
  }

  /** The code is on the screen again. */
  speedUp(): void {
    this.#isSlow = false;
    this.#stream.open();
    this.#schedule();
  }

  stop(): void {
    this.#stopped.abort();
    this.#poll?.abort();
    this.#stream.close();
    clearTimeout(this.#timer);
    clearTimeout(this.#endTimer);
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#stopped.signal.aborted || document.hidden || !this.settings.routes.status) return;
    const intervalMs = this.#stream.isAlive ? pollDuringStreamMs : this.#isSlow ? slowPollMs : pollMs;
    this.#timer = setTimeout(() => this.poll(), this.#failures ? backoffMs(this.#failures) : intervalMs);
  }

  /** A phone freezes hidden pages, and their connections end without an event. */
  #onPageEvent({ type }: Event): void {
    const { mode, completesLogin, orderKey } = this.settings;
    const isPending = mode === 'payment' && !completesLogin;
    if (isPending && type === 'pagehide') shareWithNextPage(orderKey, this.id);
    if (isPending && type === 'pageshow') unsharePending(orderKey);
    // Without a network the stream stays open for a long time. The browser fires this event immediately.
    if (type === 'offline') this.#onSignal(type);
    // Browsers do not cache a page with an open stream for back navigation.
    if (type === 'pagehide' || type === 'offline') this.#stream.close();
    else if (!document.hidden) {
      if (!this.#isSlow) this.#stream.open();
      if (Date.now() - this.#polledAtMs > pageEventThrottleMs) void this.poll();
      else this.#schedule();
    }
  }
}

/** The events of the stream, and their signals. `signalOf` reads the signal of `status` from its data. */
const streamEvents: Readonly<Record<string, WatchSignal | ''>> = {
  status: '',
  code_scanned: 'scanned',
  client_rejected_payment: 'declined',
  client_rejected_login: 'declined',
  intent_submitted: 'submitted',
};

/** `EventSource.CLOSED`. */
const closedState = 2;

/**
 * The event stream of an intent. It counts as alive only after its first event, because a proxy can buffer it. The browser
 * reopens a stream that ended, but not after an error response, such as the 502 of a proxy. This class reopens it.
 */
class EventStream {
  isAlive = false;
  readonly #url: string | false;
  readonly #onSignal: (signal: WatchSignal) => void;
  readonly #onDescription: (description: string) => void;
  readonly #onDisconnect: () => void;
  #source: EventSource | undefined;
  #failures = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    url: string | false,
    onSignal: (signal: WatchSignal) => void,
    onDescription: (description: string) => void,
    onDisconnect: () => void,
  ) {
    this.#url = url;
    this.#onSignal = onSignal;
    this.#onDescription = onDescription;
    this.#onDisconnect = onDisconnect;
  }

  open(): void {
    if (this.#source || !this.#url) return;
    const source = new EventSource(this.#url);
    this.#source = source;
    for (const event of Object.keys(streamEvents)) {
      source.addEventListener(event, ({ data }) => {
        this.isAlive = true;
        this.#failures = 0;
        this.#onSignal(streamEvents[event] || signalOf(tryOrUndefined(() => fromJson(data) as Status) ?? {}));
      });
    }
    source.addEventListener('description', ({ data }) => {
      const description: unknown = tryOrUndefined(() => (fromJson(data) as { description?: unknown }).description);
      if (typeof description === 'string') this.#onDescription(description);
    });
    source.onerror = () => {
      const wasAlive = this.isAlive;
      this.isAlive = false;
      if (source.readyState === closedState) {
        this.close();
        // At most 3 s, so all streams are open within 5 s after a restart. A hidden page reopens when it is shown.
        this.#failures += 1;
        this.#timer = setTimeout(() => document.hidden || this.open(), backoffMs(Math.min(this.#failures, 2)));
      }
      if (wasAlive) this.#onDisconnect();
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
