import { jitteredMs } from '../../async/backoff.js';
import type { StreamLimits } from '../../config/config-options.js';
import { unsubmittedTtlMs } from '../../sequencer/watch/status-cache.js';
import { ConnectionLimiter, type ConnectionOwner, streamLimitFix } from '../limits/connection-limiter.js';
import type { Logger } from '../logger.js';
import { type FeedContext, IntentFeed } from './intent-feed.js';
import type { SseConnection } from './sse-connection.js';
import { heartbeatFrame, retryFrame } from './sse-frame.js';

const heartbeatMs = 15_000;
/** Long enough for a page reload. */
const lingerMs = 5_000;
/** How soon a browser reconnects. Shorter than `lingerMs`, so that it finds the watch and its events. */
const retryMs = 1_500;

/** The last frame before a process closes. Browsers then reconnect to another process, at random times. */
export function closingFrame(): Buffer {
  return retryFrame(jitteredMs(2_000, 0.875));
}

export function eventStreamLimiter(limits: StreamLimits, logger: Logger): ConnectionLimiter {
  return new ConnectionLimiter(limits, () =>
    logger.warn(
      `express-intents: limit of ${limits.perProcess} event streams reached; further streams are rejected. ${streamLimitFix}`,
    ),
  );
}

/**
 * The feeds by intent, and the timer that sends heartbeats to their connections. Passes every update of the status cache to
 * the feed of its intent.
 *
 * - open: `join` adds connections.
 * - closed: all feeds are ended. The caller checks `isClosed` before `join`.
 */
export class EventHub {
  readonly #feeds = new Map<string, IntentFeed>();
  readonly #context: FeedContext;
  /** Intents with a recheck that waits for the cached status to expire. */
  readonly #rechecks = new Set<string>();
  /** Limits the watches without a connection: each costs the service as much as one with connections. */
  readonly #lingering: ConnectionLimiter;
  #heartbeat: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param limits of the watches without a connection */
  constructor(context: FeedContext, limits: StreamLimits) {
    this.#lingering = new ConnectionLimiter(limits, () => undefined);
    this.#context = context;
    context.statusCache.subscribe(({ id, status }) => this.#feeds.get(id)?.update(status));
  }

  /** For tests. */
  get size(): number {
    return this.#feeds.size;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Opens the connection and adds it to the feed of the intent. @returns the feed, for `leave` when the connection closes */
  join(id: string, connection: SseConnection): IntentFeed {
    connection.open(jitteredMs(retryMs, 0.5));
    let feed = this.#feeds.get(id);
    if (!feed) {
      feed = new IntentFeed(id, {
        context: this.#context,
        linger: (visitor, end) => this.#linger(visitor, end),
        onEnd: (ended) => this.#remove(ended),
      });
      this.#feeds.set(id, feed);
      this.#heartbeat ??= setInterval(() => this.#sendHeartbeats(), heartbeatMs).unref();
    }
    feed.join(connection);
    return feed;
  }

  /**
   * Reads the status for a feed again, at most once in the lifetime of a cached status, because any client of the database can
   * send notifications.
   */
  recheck(id: string): void {
    const { statusCache } = this.#context;
    if (!this.#feeds.has(id) || this.#rechecks.has(id)) return;
    this.#rechecks.add(id);
    const read = (): void => {
      this.#rechecks.delete(id);
      // The feed receives the status as a subscriber.
      if (this.#feeds.has(id)) statusCache.get(id, { bypassCache: true }).catch(() => undefined);
    };
    if (statusCache.peek(id)) setTimeout(read, unsubmittedTtlMs).unref();
    else read();
  }

  /** Ends all connections and watches. The browsers reconnect to another process. */
  close(): void {
    this.#isClosed = true;
    for (const feed of this.#feeds.values()) feed.end(closingFrame);
  }

  #linger(visitor: ConnectionOwner, end: () => void): (() => void) | undefined {
    try {
      this.#lingering.acquire(visitor);
    } catch {
      return undefined;
    }
    const timer = setTimeout(end, lingerMs).unref();
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      clearTimeout(timer);
      this.#lingering.release(visitor);
    };
  }

  #sendHeartbeats(): void {
    for (const feed of this.#feeds.values()) feed.sendToAll(heartbeatFrame);
  }

  #remove(feed: IntentFeed): void {
    if (this.#feeds.get(feed.id) === feed) this.#feeds.delete(feed.id);
    if (this.#feeds.size > 0) return;
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }
}
