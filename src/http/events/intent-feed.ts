import { setTimeout as delay } from 'node:timers/promises';
import { IntentError } from '../../errors.js';
import type { IntentStatus } from '../../sequencer/calls.js';
import type { IntentEvent, WatchIntent } from '../../sequencer/watch/intent-event.js';
import type { SharedStatus } from '../../sequencer/watch/status-cache.js';
import type { ConnectionOwner } from '../limits/connection-limiter.js';
import type { Logger } from '../response/logger.js';
import type { ClientSecrets } from './client-secret-cache.js';
import type { SseConnection } from './sse-connection.js';
import { eventFrame, retryFrame, statusFrame } from './sse-frame.js';

/** What a feed needs of the rest. */
export interface FeedContext {
  readonly watch: WatchIntent;
  readonly status: SharedStatus;
  readonly secrets: ClientSecrets;
  readonly logger: Logger;
  /**
   * Lets a watch outlive its last listener for a while, and then calls `end`.
   * @returns what calls that off; undefined where the visitor has as many such watches as they may have
   */
  linger(visitor: ConnectionOwner, end: () => void): (() => void) | undefined;
}

/**
 * The kind of the event that ends a feed, and its id: any process learns of it by asking for the status, so that it is the
 * same event whoever tells it.
 */
export const terminalKind = 'intent_submitted';
/** The kind of another event that happens once and is learnt in several ways, and its id. */
const scannedKind = 'code_scanned';
/** What the terminal event says of the status (interface section 3). */
const terminalStatus: IntentStatus = { exists: true, codeScanned: true, intentSubmitted: true };

/** What a browser that comes back may have missed. */
const historyLength = 32;
/** An id that nobody knows may become known, but hardly within seconds. */
const unknownRetryMs = 10_000;
const firstWaitMs = 500;
const longestWaitMs = 15_000;

/** Between half of it and all of it, so that those who were cut off together do not come back together. */
export function jittered(durationMs: number): number {
  return durationMs * (0.5 + Math.random() / 2);
}

/**
 * The last frame for who listens to a process that ends: when to come to another one, soon, and not together with all the
 * others. Should that one end as well, it is still a matter of seconds.
 */
export function sentAwayFrame(): Buffer {
  return retryFrame(250 + 1_750 * Math.random());
}

/** The events of one intent for all the tabs that listen: one watch upstream, however many there are. */
export class IntentFeed {
  readonly #id: string;
  readonly #context: FeedContext;
  readonly #onEnd: (feed: IntentFeed) => void;
  readonly #life = new AbortController();
  readonly #connections = new Set<SseConnection>();
  /** Those of them that were not told the status yet. */
  readonly #newcomers = new Set<SseConnection>();
  readonly #history: { readonly id: string; readonly frame: Buffer }[] = [];
  #isAsking = false;
  #isWatching = false;
  #wasScanned = false;
  #stopLingering: (() => void) | undefined;

  /** @param onEnd called once, when the feed takes nobody any more */
  constructor(id: string, context: FeedContext, onEnd: (feed: IntentFeed) => void) {
    this.#id = id;
    this.#context = context;
    this.#onEnd = onEnd;
  }

  get id(): string {
    return this.#id;
  }

  /** Greets with the status as soon as it is known, then with what was missed; whatever happens next follows. */
  join(connection: SseConnection): void {
    this.#stopLingering?.();
    this.#connections.add(connection);
    this.#newcomers.add(connection);
    if (!this.#isAsking) void this.#greet();
  }

  /** @param visitor whom the watch counts against if it outlives this connection */
  leave(connection: SseConnection, visitor: ConnectionOwner): void {
    this.#newcomers.delete(connection);
    if (!this.#connections.delete(connection) || this.#connections.size > 0) return;
    // A visitor who reloads the page is back in a moment, and finds the watch and its events.
    this.#stopLingering = this.#isWatching ? this.#context.linger(visitor, () => this.end()) : undefined;
    if (!this.#stopLingering) this.end();
  }

  /** Takes the word of the service on another way than its watch, which may well be the slower. */
  learn({ codeScanned, intentSubmitted }: IntentStatus): void {
    if (this.#life.signal.aborted) return;
    if (codeScanned) this.#tell({ kind: scannedKind, id: scannedKind });
    if (intentSubmitted) this.#tell({ kind: terminalKind, id: terminalKind });
  }

  sendToAll(frame: Buffer): void {
    for (const connection of this.#connections) connection.send(frame);
  }

  /** Ends the connections and the watch. @param last makes the last frame that each connection is sent */
  end(last?: () => Buffer): void {
    if (this.#life.signal.aborted) return;
    this.#stopLingering?.();
    this.#life.abort();
    for (const connection of this.#connections) connection.end(last?.());
    this.#connections.clear();
    this.#newcomers.clear();
    this.#onEnd(this);
  }

  async #greet(): Promise<void> {
    this.#isAsking = true;
    const status = await this.#askUntilKnown();
    this.#isAsking = false;
    if (status) this.#answer(status);
  }

  /** A service that is down is asked again, later and later; undefined once the feed has ended. */
  async #askUntilKnown(): Promise<IntentStatus | undefined> {
    const { signal } = this.#life;
    for (let waitMs = firstWaitMs; !signal.aborted; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      try {
        return await this.#context.status.get(this.#id, { signal });
      } catch (error) {
        if (waitMs === firstWaitMs && !signal.aborted) this.#warn('the events wait for the status', error);
      }
      await delay(jittered(waitMs), undefined, { signal, ref: false }).catch(() => undefined);
    }
    return undefined;
  }

  #answer(status: IntentStatus): void {
    if (this.#life.signal.aborted) return;
    // A watch costs the service something, so that nobody gets one for an id that he made up.
    if (!status.exists && !this.#isWatching) {
      this.end(() => Buffer.concat([statusFrame(status), retryFrame(jittered(unknownRetryMs))]));
      return;
    }
    this.#welcome(status);
    if (status.intentSubmitted) this.#tell({ kind: terminalKind, id: terminalKind });
    else if (!this.#isWatching) void this.#follow();
  }

  /** Tells those who are new the status, and then what they missed. */
  #welcome(status: IntentStatus): void {
    const frame = statusFrame(status);
    for (const connection of this.#newcomers) {
      connection.isGreeted = true;
      connection.send(Buffer.concat([frame, ...this.#missedSince(connection.lastEventId)]));
    }
    this.#newcomers.clear();
  }

  #missedSince(lastEventId: string | undefined): Buffer[] {
    const last = this.#history.findIndex(({ id }) => id === lastEventId);
    return this.#history.slice(last + 1).map(({ frame }) => frame);
  }

  async #follow(): Promise<void> {
    this.#isWatching = true;
    const { signal } = this.#life;
    const clientSecret = this.#context.secrets.of(this.#id);
    try {
      for await (const event of this.#context.watch({ id: this.#id, clientSecret }, { signal })) {
        if (signal.aborted) return;
        // What a browser is told here, `GET /status/:id` must not contradict.
        if (event.kind === terminalKind) this.#context.status.learn(this.#id, terminalStatus);
        this.#tell(event);
      }
    } catch (error) {
      if (!signal.aborted) this.#warn('a watch has ended', error);
    }
    // After the terminal event this is over already. Before it there is more to come: the browsers come back for it.
    this.end();
  }

  #tell(event: IntentEvent): void {
    if (event.id === scannedKind) {
      if (this.#wasScanned) return;
      this.#wasScanned = true;
    }
    const isTerminal = event.kind === terminalKind;
    const id = isTerminal ? terminalKind : event.id;
    const frame = eventFrame({ ...event, id });
    if (isTerminal) {
      this.#welcome(terminalStatus);
      this.end(() => frame);
      return;
    }
    this.#history.push({ id, frame });
    if (this.#history.length > historyLength) this.#history.shift();
    for (const connection of this.#connections) if (connection.isGreeted) connection.send(frame);
  }

  /** The service's own text stays out of it. */
  #warn(what: string, error: unknown): void {
    const code = error instanceof IntentError ? error.code : 'internal_error';
    this.#context.logger.warn(`express-intents: ${what}: ${code}`, { intent: this.#id });
  }
}
