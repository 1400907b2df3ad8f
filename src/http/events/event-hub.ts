import type { ConnectionLimits } from '../../config/config-options.js';
import type { IntentStatus } from '../../sequencer/calls.js';
import { pendingMs, type SharedStatusOptions } from '../../sequencer/watch/status-cache.js';
import { ConnectionLimiter, type ConnectionOwner } from '../limits/connection-limiter.js';
import { type FeedContext, IntentFeed, jittered, sentAwayFrame } from './intent-feed.js';
import type { SseConnection } from './sse-connection.js';
import { heartbeatFrame } from './sse-frame.js';

const heartbeatMs = 15_000;
/** Long enough for a page to be loaded again. */
const lingerMs = 5_000;
/**
 * After a restart a browser is back at most so long after the process listens. It is also within the time that a watch
 * lingers, so that a browser that was cut off finds what the watch has reported.
 */
const retryMs = 1_500;

/** The feeds that somebody listens to, by intent; and the one timer that keeps their connections alive. */
export class EventHub {
  readonly #feeds = new Map<string, IntentFeed>();
  readonly #context: FeedContext;
  readonly #drop = (feed: IntentFeed): void => this.#forget(feed);
  /** Ids that were hinted at just after the service was asked, and will be asked for. */
  readonly #hinted = new Set<string>();
  /** Each costs the service as much as one that somebody listens to. */
  readonly #lingering: ConnectionLimiter;
  #heartbeat: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** @param limits of the watches that outlive their last listener, besides those that have one */
  constructor(context: Omit<FeedContext, 'linger'>, limits: ConnectionLimits) {
    this.#lingering = new ConnectionLimiter(limits, () => undefined);
    this.#context = { ...context, linger: (visitor, end) => this.#linger(visitor, end) };
  }

  /** How many intents are followed. */
  get size(): number {
    return this.#feeds.size;
  }

  /** Whether it takes nobody any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Opens the connection and lets it listen; the feed that is given back is the one to be left. */
  join(id: string, connection: SseConnection): IntentFeed {
    connection.open(jittered(retryMs));
    let feed = this.#feeds.get(id);
    if (!feed) {
      feed = new IntentFeed(id, this.#context, this.#drop);
      this.#feeds.set(id, feed);
      this.#heartbeat ??= setInterval(() => this.#beat(), heartbeatMs).unref();
    }
    feed.join(connection);
    return feed;
  }

  /** Asks for the status anew, as after a hint, and tells those who listen what it says. @throws as `SharedStatus.get` */
  async look(id: string, options: Omit<SharedStatusOptions, 'isFresh'> = {}): Promise<IntentStatus> {
    const status = await this.#context.status.get(id, { ...options, isFresh: true });
    this.#feeds.get(id)?.learn(status);
    return status;
  }

  /**
   * Takes the hint that something has happened to an intent: where somebody listens, the service is asked, a few times a
   * second however many hints there are. Whoever may connect to the database can give one.
   */
  hint(id: string): void {
    if (!this.#feeds.has(id) || this.#hinted.has(id)) return;
    this.#hinted.add(id);
    const act = (): void => {
      this.#hinted.delete(id);
      if (this.#feeds.has(id)) this.look(id).catch(() => undefined);
    };
    if (this.#context.status.known(id)) setTimeout(act, pendingMs).unref();
    else act();
  }

  /** Ends all connections, which come back to another process, and all watches. */
  close(): void {
    this.#isClosed = true;
    for (const feed of this.#feeds.values()) feed.end(sentAwayFrame);
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

  #forget(feed: IntentFeed): void {
    if (this.#feeds.get(feed.id) === feed) this.#feeds.delete(feed.id);
    if (this.#feeds.size > 0) return;
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }
}
