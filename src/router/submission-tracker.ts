import { BoundedMap } from '../async/bounded-map.js';
import type { ClientSecrets } from '../http/events/client-secret-cache.js';
import { decodePayload, parseClientSecret } from '../intents/payload.js';
import type { IntentEvent, WatchIntent } from '../sequencer/watch/intent-event.js';
import type { AskStatus } from '../sequencer/watch/status-cache.js';
import type { RouterEventPayload, SubmittedWay } from '../telemetry/router-event.js';

/** Of how many intents it is known what was told of them, and for how long: so long they are told of once. */
const remembered = { capacity: 10_000, ttlMs: 24 * 3_600_000 } as const;

export interface IntentSightingsOptions {
  readonly emit: (event: RouterEventPayload) => void;
  readonly secrets: () => ClientSecrets;
  /** Whether a ledger tells that a payment was submitted: across all processes it does so once. */
  readonly hasLedger: boolean;
  readonly now: () => number;
}

/**
 * What is learnt of an intent from the service, in several ways and several times, and is told once: that its code was
 * scanned, and that it was submitted, with the way in which that was learnt first.
 */
export class IntentSightings {
  readonly #options: IntentSightingsOptions;
  /** Who asks just now, by intent. */
  readonly #asking = new Map<string, SubmittedWay>();
  readonly #ways: BoundedMap<SubmittedWay>;
  readonly #scanned: BoundedMap<true>;

  constructor(options: IntentSightingsOptions) {
    this.#options = options;
    this.#ways = new BoundedMap({ ...remembered, now: options.now });
    this.#scanned = new BoundedMap({ ...remembered, now: options.now });
  }

  /** Notes for whose sake the status is asked for. */
  asking<Rest extends unknown[], Answer>(
    way: SubmittedWay,
    ask: (id: string, ...rest: Rest) => Promise<Answer>,
  ): (id: string, ...rest: Rest) => Promise<Answer> {
    return async (id, ...rest) => {
      this.#asking.set(id, way);
      try {
        return await ask(id, ...rest);
      } finally {
        this.#asking.delete(id);
      }
    };
  }

  /** A watch whose events are told of. */
  watching(watch: (askStatus: AskStatus) => WatchIntent): (askStatus: AskStatus) => WatchIntent {
    return (askStatus) => {
      const begin = watch(this.asking('stream', askStatus));
      return (intent, options) => this.#seen(intent.id, begin(intent, options));
    };
  }

  /** It was learnt that an intent was submitted. */
  submitted(intent: string): void {
    if (this.#ways.get(intent)) return;
    const way = this.#asking.get(intent) ?? 'status';
    this.#ways.set(intent, way);
    const kind = this.#kindOf(intent);
    if (!this.#options.hasLedger || kind === 'login') {
      this.#options.emit({ type: 'intent_submitted', intent, kind, way });
    }
  }

  /** What the ledger tells, with the way in which it was learnt before the ledger looked. */
  completed(event: RouterEventPayload): RouterEventPayload {
    if (event.type !== 'intent_submitted') return event;
    return { ...event, way: this.#ways.get(event.intent) ?? event.way };
  }

  async *#seen(intent: string, events: AsyncIterable<IntentEvent>): AsyncGenerator<IntentEvent, void> {
    for await (const event of events) {
      this.#see(intent, event);
      yield event;
    }
  }

  #see(intent: string, { kind }: IntentEvent): void {
    const { emit } = this.#options;
    if (kind === 'client_rejected_payment') emit({ type: 'intent_declined', intent, kind: 'payment' });
    if (kind === 'client_rejected_login') emit({ type: 'intent_declined', intent, kind: 'login' });
    if (kind !== 'code_scanned' || this.#scanned.get(intent)) return;
    this.#scanned.set(intent, true);
    emit({ type: 'code_scanned', intent });
  }

  /** As its secret says, where this process has it. */
  #kindOf(intent: string): 'payment' | 'login' | undefined {
    const secret = this.#options.secrets().of(intent);
    return secret === undefined ? undefined : decodePayload(parseClientSecret(secret)).kind;
  }
}
