import { AsyncResource } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { exponentialBackoffMs, jitteredMs } from '../../async/backoff.js';
import { IntentError } from '../../errors.js';
import type { IntentStatus } from '../../sequencer/calls.js';
import { isCounted } from '../../sequencer/resilience/outage.js';
import type { IntentEvent, WatchIntent } from '../../sequencer/watch/intent-event.js';
import type { StatusCache } from '../../sequencer/watch/status-cache.js';
import type { ConnectionOwner } from '../limits/connection-limiter.js';
import type { Logger } from '../logger.js';
import type { PrivateIntentCache } from './private-intent-cache.js';
import type { SseConnection } from './sse-connection.js';
import { eventFrame, retryFrame, statusFrame } from './sse-frame.js';

/** Shared by the feeds of a process. */
export interface FeedContext {
  readonly watch: WatchIntent;
  /** Its updates reach the feeds through the hub. */
  readonly statusCache: StatusCache;
  readonly privateIntents: PrivateIntentCache;
  readonly logger: Logger;
  /** Called with each event of a watch, and with a scan that the status shows. So a scan may be reported twice. */
  readonly onEvent?: ((intentId: string, event: IntentEvent) => void) | undefined;
}

export interface FeedOptions {
  readonly context: FeedContext;
  /** Keeps an unused watch for a few seconds, then calls `end`. Returns a function to cancel this; undefined at the limit. */
  readonly linger: (visitor: ConnectionOwner, end: () => void) => (() => void) | undefined;
  readonly onEnd: (feed: IntentFeed) => void;
}

/** The kind and the id of the event that ends a feed. The status causes it, so it is the same in all processes. */
export const terminalKind = 'intent_submitted';
const terminalFrame = eventFrame({ kind: terminalKind, id: terminalKind });
const terminalStatus: IntentStatus = { exists: true, codeScanned: true, intentSubmitted: true };
/** A scan happens once. Messages and the status both report it. */
const scannedEvent = { kind: 'code_scanned', id: 'code_scanned' } as const;

/** Events kept for browsers that reconnect. */
const historyLength = 32;
/** An unknown id may exist later, but not within seconds. */
const unknownRetryMs = 10_000;
/** Delay between attempts to read the status. */
const statusRetry = { firstMs: 500, capMs: 15_000 } as const;

/**
 * The events of one intent for all its connections, from one upstream watch.
 *
 * - starting: connections wait for the status. While the service is down, the feed retries.
 * - watching: the intent exists and is not submitted. A watch runs, and every connection has received the status. A new
 *   connection waits for the status and then receives the events it missed.
 * - lingering: the last connection has left a watching feed. The watch continues for a few seconds, so that a page reload finds
 *   it and its events. `join` returns the feed to watching.
 * - ended: connections and watch are closed. A later connection needs a new feed. A feed ends when the intent is submitted or
 *   unknown, when the last connection leaves and the feed may not linger, when lingering ends, when the watch ends or fails, and
 *   when the process closes.
 *
 * The feed gets the status by its own read or by `update`. Both have the same effect.
 */
export class IntentFeed {
  readonly id: string;
  readonly #context: FeedContext;
  readonly #options: FeedOptions;
  readonly #ended = new AbortController();
  readonly #connections = new Set<SseConnection>();
  readonly #awaitingStatus = new Set<SseConnection>();
  readonly #history: { readonly id: string; readonly frame: Buffer }[] = [];
  #isReading = false;
  #isWatching = false;
  #wasScanned = false;
  /**
   * Starts the watch in the async context of the stream that created the feed, not of a request that shares its status call.
   */
  readonly #startWatch = AsyncResource.bind(() => void this.#runWatch());
  #stopLingering: (() => void) | undefined;

  constructor(id: string, options: FeedOptions) {
    this.id = id;
    this.#context = options.context;
    this.#options = options;
  }

  /** Sends the connection the status, then the events it missed, then new events. */
  join(connection: SseConnection): void {
    this.#stopLingering?.();
    this.#connections.add(connection);
    this.#awaitingStatus.add(connection);
    if (!this.#isReading) void this.#readStatus();
  }

  /** @param visitor whose limit the watch counts against while the feed lingers */
  leave(connection: SseConnection, visitor: ConnectionOwner): void {
    this.#awaitingStatus.delete(connection);
    if (!this.#connections.delete(connection) || this.#connections.size > 0) return;
    this.#stopLingering = this.#isWatching ? this.#options.linger(visitor, () => this.end()) : undefined;
    if (!this.#stopLingering) this.end();
  }

  update(status: IntentStatus): void {
    if (this.#ended.signal.aborted) return;
    const { exists, codeScanned, intentSubmitted } = status;
    // The submission ends the watch, which may not have reported the scan yet.
    if (codeScanned && (this.#isWatching || !intentSubmitted)) this.#context.onEvent?.(this.id, scannedEvent);
    if (!exists && !this.#isWatching) {
      // A watch costs the service a stream, so unknown ids get none.
      this.end(() => Buffer.concat([statusFrame(status), retryFrame(jitteredMs(unknownRetryMs, 0.5))]));
    } else if (intentSubmitted) {
      // The other connections see the scan in their status.
      if (codeScanned && !this.#wasScanned) this.#broadcast(eventFrame(scannedEvent));
      this.#finish(status);
    } else {
      this.#sendStatus(status);
      if (codeScanned) this.#emit(scannedEvent);
      if (!this.#isWatching) this.#startWatch();
    }
  }

  sendToAll(frame: Buffer): void {
    for (const connection of this.#connections) connection.send(frame);
  }

  /** Ends the connections and the watch. @param last returns the last frame of a connection */
  end(last?: () => Buffer): void {
    if (this.#ended.signal.aborted) return;
    this.#stopLingering?.();
    this.#ended.abort();
    for (const connection of this.#connections) connection.end(last?.());
    this.#connections.clear();
    this.#awaitingStatus.clear();
    this.#options.onEnd(this);
  }

  async #readStatus(): Promise<void> {
    this.#isReading = true;
    const status = await this.#retryUntilRead();
    this.#isReading = false;
    if (status) this.update(status);
  }

  /** Retries with backoff while the service is down; undefined once the feed has ended. */
  async #retryUntilRead(): Promise<IntentStatus | undefined> {
    const { signal } = this.#ended;
    let hasWarned = false;
    for (let retry = 0; !signal.aborted; retry += 1) {
      try {
        return await this.#context.statusCache.get(this.id, { signal });
      } catch (error) {
        if (!hasWarned && !signal.aborted && !isCounted(error)) {
          hasWarned = true;
          this.#warn('the status for an event stream cannot be read and is requested again', error);
        }
      }
      const delayMs = jitteredMs(exponentialBackoffMs(statusRetry, retry), 0.5);
      await delay(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
    return undefined;
  }

  async #runWatch(): Promise<void> {
    this.#isWatching = true;
    const { watch, privateIntents, statusCache, onEvent } = this.#context;
    const { signal } = this.#ended;
    try {
      for await (const event of watch(
        { id: this.id, clientSecret: privateIntents.getClientSecret(this.id) },
        { signal },
      )) {
        onEvent?.(this.id, event);
        if (signal.aborted) return;
        if (event.kind === terminalKind) {
          this.#finish(terminalStatus);
          // `GET /status/:id` must not contradict this event.
          statusCache.set(this.id, terminalStatus, 'stream');
        } else {
          this.#emit(event);
        }
      }
    } catch (error) {
      if (!signal.aborted)
        this.#warn('the events of an intent cannot be read, so its event streams end and browsers reconnect', error);
    }
    // Without the terminal event, the browsers reconnect.
    this.end();
  }

  /** Sends new connections the status, and then the events they missed. */
  #sendStatus(status: IntentStatus): void {
    const frame = statusFrame(status);
    for (const connection of this.#awaitingStatus) {
      const last = this.#history.findIndex(({ id }) => id === connection.lastEventId);
      const missed = this.#history.slice(last + 1).map((event) => event.frame);
      connection.hasStatus = true;
      connection.send(Buffer.concat([frame, ...missed]));
    }
    this.#awaitingStatus.clear();
  }

  #emit(event: IntentEvent): void {
    if (event.id === scannedEvent.id) {
      if (this.#wasScanned) return;
      this.#wasScanned = true;
    }
    const frame = eventFrame(event);
    this.#history.push({ id: event.id, frame });
    if (this.#history.length > historyLength) this.#history.shift();
    this.#broadcast(frame);
  }

  #finish(status: IntentStatus): void {
    this.#sendStatus(status);
    this.end(() => terminalFrame);
  }

  #broadcast(frame: Buffer): void {
    for (const connection of this.#connections) if (connection.hasStatus) connection.send(frame);
  }

  /** Omits the text of the service. */
  #warn(what: string, error: unknown): void {
    const code = error instanceof IntentError ? error.code : 'internal_error';
    this.#context.logger.warn(`express-intents: ${what}: ${code}`, { intent: this.id });
  }
}
