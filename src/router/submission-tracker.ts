import { BoundedMap } from '../async/bounded-map.js';
import type { PrivateIntentCache } from '../http/events/private-intent-cache.js';
import { decodePayload, parseClientSecret } from '../intents/payload.js';
import type { IntentEvent } from '../sequencer/watch/intent-event.js';
import type { StatusSource, StatusUpdate } from '../sequencer/watch/status-cache.js';
import type { Observer, RouterEventPayload } from '../telemetry/router-event.js';

/** Each event is emitted once within this time, for this many intents. */
const remembered = { capacity: 10_000, ttlMs: 24 * 3_600_000 } as const;

export interface SubmissionTrackerOptions {
  readonly observer: Observer;
  readonly privateIntents: PrivateIntentCache;
  /** Whether a ledger emits the submission of payments. Only the process that records a submission emits it. */
  readonly hasLedger: boolean;
  readonly now: () => number;
}

/**
 * Emits scanned, declined and submitted, each once for an intent. Several sources report a scan or a submission, and the service
 * repeats messages when a page is opened again.
 */
export class SubmissionTracker {
  readonly #options: SubmissionTrackerOptions;
  readonly #sources: BoundedMap<StatusSource>;
  readonly #scanned: BoundedMap<true>;
  readonly #declined: BoundedMap<true>;

  constructor(options: SubmissionTrackerOptions) {
    this.#options = options;
    this.#sources = new BoundedMap({ ...remembered, now: options.now });
    this.#scanned = new BoundedMap({ ...remembered, now: options.now });
    this.#declined = new BoundedMap({ ...remembered, now: options.now });
  }

  readonly onStatus = ({ id, status, source }: StatusUpdate): void => {
    if (status.codeScanned && source === 'stream') this.#scan(id);
    // The ledger emits the submissions that it finds.
    if (status.intentSubmitted && source !== 'ledger') this.#submit(id, source);
  };

  readonly onEvent = (intent: string, { kind }: IntentEvent): void => {
    if (kind === 'code_scanned') this.#scan(intent);
    if (kind === 'client_rejected_payment') this.#decline(intent, 'payment');
    if (kind === 'client_rejected_login') this.#decline(intent, 'login');
  };

  /** The observer of the ledger: replaces the source of a submission with the source that reported it first. */
  readonly ledgerObserver: Observer = {
    emit: (event) => this.#options.observer.emit(this.#withSource(event)),
  };

  #withSource(event: RouterEventPayload): RouterEventPayload {
    if (event.type !== 'intent_submitted') return event;
    return { ...event, source: this.#sources.get(event.intent) ?? event.source };
  }

  #scan(intent: string): void {
    if (this.#scanned.get(intent)) return;
    this.#scanned.set(intent, true);
    this.#options.observer.emit({ type: 'code_scanned', intent });
  }

  #decline(intent: string, kind: 'payment' | 'login'): void {
    if (this.#declined.get(intent)) return;
    this.#declined.set(intent, true);
    this.#options.observer.emit({ type: 'intent_declined', intent, kind });
  }

  #submit(intent: string, source: StatusSource): void {
    if (this.#sources.get(intent)) return;
    this.#sources.set(intent, source);
    const { observer, hasLedger } = this.#options;
    const kind = this.#kindOf(intent);
    if (!hasLedger || kind === 'login') observer.emit({ type: 'intent_submitted', intent, kind, source });
  }

  /** Known only if this process has the client secret. */
  #kindOf(intent: string): 'payment' | 'login' | undefined {
    const secret = this.#options.privateIntents.getClientSecret(intent);
    return secret === undefined ? undefined : decodePayload(parseClientSecret(secret)).kind;
  }
}
