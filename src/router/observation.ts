import type { Config } from '../config/config.js';
import type { ClientSecrets } from '../http/events/client-secret-cache.js';
import type { Logger } from '../http/response/logger.js';
import type { WebhookVerifier } from '../http/webhook/verify-webhook.js';
import type { Ledger } from '../ledger/ledger.js';
import type { IntentStatus } from '../sequencer/calls.js';
import type { WatchIntent } from '../sequencer/watch/intent-event.js';
import type { AskStatus } from '../sequencer/watch/status-cache.js';
import { type Upstream, upstreamOf } from '../telemetry/open-telemetry.js';
import type { Observer } from '../telemetry/router-event.js';
import { type RouterObserver, routerObserver } from '../telemetry/router-observer.js';
import type { IntentRouterOptions } from './options.js';
import { IntentSightings } from './submission-tracker.js';

export interface ObservationParts {
  readonly options: IntentRouterOptions;
  readonly config: Config;
  readonly logger: Logger;
  readonly now: () => number;
  /** Known once the router is composed. */
  readonly secrets: () => ClientSecrets;
}

/** What observes a router, and what of its parts passes through it; where nobody looks on, each part is left as it is. */
export class RouterObservation {
  readonly observer: RouterObserver | undefined;
  readonly #sightings: IntentSightings | undefined;

  constructor({ options, config, logger, now, secrets }: ObservationParts) {
    const { onEvent, telemetry } = options;
    const observer = routerObserver({ onEvent, telemetry, upstream: upstreamIn(config, options), logger, now });
    this.observer = observer;
    this.#sightings =
      observer && new IntentSightings({ emit: observer.emit, secrets, hasLedger: config.ledger !== undefined, now });
  }

  watch(watch: (askStatus: AskStatus) => WatchIntent): (askStatus: AskStatus) => WatchIntent {
    return this.#sightings?.watching(watch) ?? watch;
  }

  /** The look after a webhook call. */
  look(look: (id: string) => Promise<IntentStatus>): (id: string) => Promise<IntentStatus> {
    return this.#sightings?.asking('webhook', look) ?? look;
  }

  /** It was learnt in any way that an intent was submitted. */
  submitted(id: string): void {
    this.#sightings?.submitted(id);
  }

  verify(verify: WebhookVerifier): WebhookVerifier {
    const { observer } = this;
    if (!observer) return verify;
    return async (jwt) => {
      const verified = await verify(jwt);
      observer.emit({ type: 'webhook_received', intent: verified.intentId });
      return verified;
    };
  }

  /** Who looks on while the ledger settles. */
  get ofLedger(): Observer | undefined {
    const [observer, sightings] = [this.observer, this.#sightings];
    if (!observer || !sightings) return undefined;
    return { emit: (event) => observer.emit(sightings.completed(event)) };
  }

  watchLedger(ledger: Ledger | undefined): void {
    if (ledger) this.observer?.openTelemetry?.watchLedger(() => ledger.inspect());
  }

  close(): void {
    this.observer?.openTelemetry?.close();
  }
}

function upstreamIn({ sequencer: { url, grpcUrl } }: Config, { transport }: IntentRouterOptions): Upstream {
  if (transport) return upstreamOf('custom', undefined);
  return grpcUrl === undefined ? upstreamOf('http', url) : upstreamOf('grpc', grpcUrl);
}
