import { BoundedMap } from '../async/bounded-map.js';
import type { ClientSecretCache } from '../http/events/client-secret-cache.js';
import { decodePayload, parseClientSecret } from '../intents/payload.js';
import type { IntentEvent } from '../sequencer/watch/intent-event.js';
import type { StatusSource, StatusUpdate } from '../sequencer/watch/status-cache.js';
import type { Observer, RouterEventPayload } from '../telemetry/router-event.js';

/** Each event is emitted once in this time, for so many intents. */
const remembered = { capacity: 10_000, ttlMs: 24 * 3_600_000 } as const;

export interface SubmissionTrackerOptions {
  readonly observer: Observer;
  readonly secrets: ClientSecretCache;
  /** Whether a ledger emits the submission of payments, which it does once across all processes. */
  readonly hasLedger: boolean;
  readonly now: () => number;
}

/**
 * Emits the events of an intent that are learnt in several ways and several times: scanned, declined, submitted. Of each
 * intent it knows whether its scan was emitted, and the source of the first status that said submitted.
 */
export class SubmissionTracker {
  readonly #options: SubmissionTrackerOptions;
  readonly #sources: BoundedMap<StatusSource>;
  readonly #scanned: BoundedMap<true>;

  constructor(options: SubmissionTrackerOptions) {
    this.#options = options;
    this.#sources = new BoundedMap({ ...remembered, now: options.now });
    this.#scanned = new BoundedMap({ ...remembered, now: options.now });
  }

  /** Subscribes to the status cache. */
  readonly onStatus = ({ id, status, source }: StatusUpdate): void => {
    if (status.codeScanned && source === 'stream') this.#scan(id);
    // What the ledger learns it emits itself.
    if (status.intentSubmitted && source !== 'ledger') this.#submit(id, source);
  };

  /** Takes the events of the watches. */
  readonly onEvent = (intent: string, { kind }: IntentEvent): void => {
    const { observer } = this.#options;
    if (kind === 'code_scanned') this.#scan(intent);
    if (kind === 'client_rejected_payment') observer.emit({ type: 'intent_declined', intent, kind: 'payment' });
    if (kind === 'client_rejected_login') observer.emit({ type: 'intent_declined', intent, kind: 'login' });
  };

  /** For the ledger: adds to its submissions the source that was first, before the ledger polled. */
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

  #submit(intent: string, source: StatusSource): void {
    if (this.#sources.get(intent)) return;
    this.#sources.set(intent, source);
    const { observer, hasLedger } = this.#options;
    const kind = this.#kindOf(intent);
    if (!hasLedger || kind === 'login') observer.emit({ type: 'intent_submitted', intent, kind, source });
  }

  /** Known where this process has the client secret. */
  #kindOf(intent: string): 'payment' | 'login' | undefined {
    const secret = this.#options.secrets.of(intent);
    return secret === undefined ? undefined : decodePayload(parseClientSecret(secret)).kind;
  }
}
