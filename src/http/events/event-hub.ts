import { jitteredMs } from '../../async/backoff.js';
import type { ConnectionLimits } from '../../config/config-options.js';
import { pendingMs } from '../../sequencer/watch/status-cache.js';
import { ConnectionLimiter, type ConnectionOwner } from '../limits/connection-limiter.js';
import type { Logger } from '../logger.js';
import { type FeedContext, IntentFeed } from './intent-feed.js';
import type { SseConnection } from './sse-connection.js';
import { heartbeatFrame, retryFrame } from './sse-frame.js';

const heartbeatMs = 15_000;
/** Long enough to reload a page. */
const lingerMs = 5_000;
/**
 * A browser reconnects within this time after a restart. It is shorter than `lingerMs`, so that a browser whose connection
 * broke finds the watch and its events.
 */
const retryMs = 1_500;

/**
 * The last frame of a process that closes: the browser reconnects to another one, soon and not together with all others. If
 * that one closes too, it is a matter of seconds again.
 */
export function closingFrame(): Buffer {
  return retryFrame(jitteredMs(2_000, 0.875));
}

/** Limits the event streams of a process, and logs when it is full. */
export function eventStreamLimiter(limits: ConnectionLimits, logger: Logger): ConnectionLimiter {
  return new ConnectionLimiter(limits, () =>
    logger.warn(
      `express-intents: all ${limits.perProcess} streams of events are taken, and browsers are refused. Run more ` +
        'processes, or raise connectionLimits.perProcess.',
    ),
  );
}

/**
 * The feeds that have connections, by intent, and the one timer that keeps the connections alive. It passes every update of
 * the status cache on to the feed of its intent. Once closed it takes no more connections.
 */
export class EventHub {
  readonly #feeds = new Map<string, IntentFeed>();
  readonly #context: FeedContext;
  /** Intents whose recheck waits until the cached status has expired. */
  readonly #rechecks = new Set<string>();
  /** Limits the watches that outlive their last connection; each costs the service as much as one that has connections. */
  readonly #lingering: ConnectionLimiter;
  #heartbeat: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param limits of the watches that outlive their last connection, besides those that have one */
  constructor(context: FeedContext, limits: ConnectionLimits) {
    this.#lingering = new ConnectionLimiter(limits, () => undefined);
    this.#context = context;
    context.statusCache.subscribe(({ id, status }) => this.#feeds.get(id)?.update(status));
  }

  /** How many intents have a feed. */
  get size(): number {
    return this.#feeds.size;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Opens the connection and adds it to the feed of the intent. @returns the feed, to be left when the connection closes */
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
      this.#heartbeat ??= setInterval(() => this.#beat(), heartbeatMs).unref();
    }
    feed.join(connection);
    return feed;
  }

  /**
   * Reads the status anew where the intent has a feed, at most once per lifetime of a cached status: every client of the
   * database can send notifications, as many as it likes.
   */
  recheck(id: string): void {
    const { statusCache } = this.#context;
    if (!this.#feeds.has(id) || this.#rechecks.has(id)) return;
    this.#rechecks.add(id);
    const read = (): void => {
      this.#rechecks.delete(id);
      // The feed learns the status as a subscriber.
      if (this.#feeds.has(id)) statusCache.get(id, { bypassCache: true }).catch(() => undefined);
    };
    if (statusCache.peek(id)) setTimeout(read, pendingMs).unref();
    else read();
  }

  /** Ends all connections, which reconnect to another process, and all watches. */
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
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      this.#lingering.release(visitor);
    };
  }

  #beat(): void {
    for (const feed of this.#feeds.values()) feed.sendToAll(heartbeatFrame);
  }

  #remove(feed: IntentFeed): void {
    if (this.#feeds.get(feed.id) === feed) this.#feeds.delete(feed.id);
    if (this.#feeds.size > 0) return;
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }
}
