import { setTimeout as delay } from 'node:timers/promises';
import { exponentialBackoffMs, jitteredMs } from '../../async/backoff.js';
import { IntentError } from '../../errors.js';
import type { IntentStatus } from '../../sequencer/calls.js';
import type { IntentEvent, WatchIntent } from '../../sequencer/watch/intent-event.js';
import type { StatusCache } from '../../sequencer/watch/status-cache.js';
import type { ConnectionOwner } from '../limits/connection-limiter.js';
import type { Logger } from '../logger.js';
import type { ClientSecretCache } from './client-secret-cache.js';
import type { SseConnection } from './sse-connection.js';
import { eventFrame, retryFrame, statusFrame } from './sse-frame.js';

/** What the feeds of a process share. */
export interface FeedContext {
  readonly watch: WatchIntent;
  /** Its updates reach the feeds through the hub. */
  readonly statusCache: StatusCache;
  readonly secrets: ClientSecretCache;
  readonly logger: Logger;
  /** Called with each event of a watch. */
  readonly onEvent?: ((intentId: string, event: IntentEvent) => void) | undefined;
}

export interface FeedOptions {
  readonly context: FeedContext;
  /**
   * Lets a watch outlive its last connection for a while, then calls `end`.
   * @returns cancels that; undefined where the visitor has as many such watches as allowed
   */
  readonly linger: (visitor: ConnectionOwner, end: () => void) => (() => void) | undefined;
  /** Called once, when the feed takes no more connections. */
  readonly onEnd: (feed: IntentFeed) => void;
}

/**
 * The kind of the event that ends a feed, and its id. Every process learns it from the status, so that it is the same event
 * in all of them.
 */
export const terminalKind = 'intent_submitted';
const terminalFrame = eventFrame({ kind: terminalKind, id: terminalKind });
/** The status that the terminal event stands for (interface section 3). */
const terminalStatus: IntentStatus = { exists: true, codeScanned: true, intentSubmitted: true };
/** The event that happens once and is learnt both from messages and from the status. */
const scannedEvent = { kind: 'code_scanned', id: 'code_scanned' } as const;

/** How many events are kept for a browser that reconnects. */
const historyLength = 32;
/** An unknown id may become known, but hardly within seconds. */
const unknownRetryMs = 10_000;
/** From one failure to read the status to the next try. */
const statusRetry = { firstMs: 500, capMs: 15_000 } as const;

/**
 * The events of one intent for all its connections: one watch upstream, however many there are.
 *
 * - greeting: connections have joined and wait for the status, which is read again and again while the service is down.
 * - watching: the status is known, the intent exists and is not submitted. A watch runs, and every connection has had the
 *   status. A connection that joins waits for the status as above and then gets the events that it missed.
 * - lingering: the last connection has left while watching. The watch runs on for some seconds, so that a reload of the page
 *   finds it and its events; `join` makes the feed watch again.
 * - ended: connections and watch are closed, and a connection that comes later needs a new feed. The feed ends when the
 *   intent is submitted or unknown, when the last connection leaves and nothing may linger, when the watch ends or fails,
 *   and when the process closes.
 *
 * The status comes from the cache in two ways, a read of its own and `update`, and either has the same effect.
 */
export class IntentFeed {
  readonly id: string;
  readonly #context: FeedContext;
  readonly #options: FeedOptions;
  /** Aborted when the feed has ended. */
  readonly #life = new AbortController();
  readonly #connections = new Set<SseConnection>();
  /** The connections that have not had the status yet. */
  readonly #newcomers = new Set<SseConnection>();
  readonly #history: { readonly id: string; readonly frame: Buffer }[] = [];
  #isReading = false;
  #isWatching = false;
  #wasScanned = false;
  #stopLingering: (() => void) | undefined;

  constructor(id: string, options: FeedOptions) {
    this.id = id;
    this.#context = options.context;
    this.#options = options;
  }

  /** Sends the connection the status as soon as it is known, then the events it missed, then those that follow. */
  join(connection: SseConnection): void {
    this.#stopLingering?.();
    this.#connections.add(connection);
    this.#newcomers.add(connection);
    if (!this.#isReading) void this.#readStatus();
  }

  /** @param visitor whose limit the watch counts against if it outlives this connection */
  leave(connection: SseConnection, visitor: ConnectionOwner): void {
    this.#newcomers.delete(connection);
    if (!this.#connections.delete(connection) || this.#connections.size > 0) return;
    this.#stopLingering = this.#isWatching ? this.#options.linger(visitor, () => this.end()) : undefined;
    if (!this.#stopLingering) this.end();
  }

  /** Takes a status of the service. The same one again has no effect. */
  update(status: IntentStatus): void {
    if (this.#life.signal.aborted) return;
    const { exists, codeScanned, intentSubmitted } = status;
    if (!exists && !this.#isWatching) {
      // A watch costs the service a stream; an id that a visitor made up gets none.
      this.end(() => Buffer.concat([statusFrame(status), retryFrame(jitteredMs(unknownRetryMs, 0.5))]));
    } else if (intentSubmitted) {
      // Newcomers learn it from their status.
      if (codeScanned && !this.#wasScanned) this.#sendToGreeted(eventFrame(scannedEvent));
      this.#finish(status);
    } else {
      this.#greet(status);
      if (codeScanned) this.#emit(scannedEvent);
      if (!this.#isWatching) void this.#follow();
    }
  }

  sendToAll(frame: Buffer): void {
    for (const connection of this.#connections) connection.send(frame);
  }

  /** Ends the connections and the watch. @param last makes the last frame for each connection */
  end(last?: () => Buffer): void {
    if (this.#life.signal.aborted) return;
    this.#stopLingering?.();
    this.#life.abort();
    for (const connection of this.#connections) connection.end(last?.());
    this.#connections.clear();
    this.#newcomers.clear();
    this.#options.onEnd(this);
  }

  async #readStatus(): Promise<void> {
    this.#isReading = true;
    const status = await this.#retryUntilRead();
    this.#isReading = false;
    if (status) this.update(status);
  }

  /** Retries with growing delays while the service is down; undefined when the feed has ended. */
  async #retryUntilRead(): Promise<IntentStatus | undefined> {
    const { signal } = this.#life;
    for (let retry = 0; !signal.aborted; retry += 1) {
      try {
        return await this.#context.statusCache.get(this.id, { signal });
      } catch (error) {
        if (retry === 0 && !signal.aborted) this.#warn('the events wait for the status', error);
      }
      const delayMs = jitteredMs(exponentialBackoffMs(statusRetry, retry), 0.5);
      await delay(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
    return undefined;
  }

  async #follow(): Promise<void> {
    this.#isWatching = true;
    const { watch, secrets, statusCache, onEvent } = this.#context;
    const { signal } = this.#life;
    try {
      for await (const event of watch({ id: this.id, clientSecret: secrets.of(this.id) }, { signal })) {
        onEvent?.(this.id, event);
        if (signal.aborted) return;
        if (event.kind === terminalKind) {
          this.#finish(terminalStatus);
          // `GET /status/:id` must not contradict what the connections were sent.
          statusCache.set(this.id, terminalStatus, 'stream');
        } else {
          this.#emit(event);
        }
      }
    } catch (error) {
      if (!signal.aborted) this.#warn('a watch has ended', error);
    }
    // Without the terminal event more is to come: the browsers reconnect for it.
    this.end();
  }

  /** Sends the newcomers the status, and then the events they missed. */
  #greet(status: IntentStatus): void {
    const frame = statusFrame(status);
    for (const connection of this.#newcomers) {
      const last = this.#history.findIndex(({ id }) => id === connection.lastEventId);
      const missed = this.#history.slice(last + 1).map((event) => event.frame);
      connection.isGreeted = true;
      connection.send(Buffer.concat([frame, ...missed]));
    }
    this.#newcomers.clear();
  }

  #emit(event: IntentEvent): void {
    if (event.id === scannedEvent.id) {
      if (this.#wasScanned) return;
      this.#wasScanned = true;
    }
    const frame = eventFrame(event);
    this.#history.push({ id: event.id, frame });
    if (this.#history.length > historyLength) this.#history.shift();
    this.#sendToGreeted(frame);
  }

  #finish(status: IntentStatus): void {
    this.#greet(status);
    this.end(() => terminalFrame);
  }

  #sendToGreeted(frame: Buffer): void {
    for (const connection of this.#connections) if (connection.isGreeted) connection.send(frame);
  }

  /** Leaves out the text of the service. */
  #warn(what: string, error: unknown): void {
    const code = error instanceof IntentError ? error.code : 'internal_error';
    this.#context.logger.warn(`express-intents: ${what}: ${code}`, { intent: this.id });
  }
}
