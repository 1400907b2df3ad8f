import type { ConnectionLimits } from '../../config/config-options.js';
import type { IntentClient } from '../../sequencer/intent-client.js';
import type { WatchIntent } from '../../sequencer/watch/intent-event.js';
import { type AskStatus, SharedStatus } from '../../sequencer/watch/status-cache.js';
import { ConnectionLimiter } from '../limits/connection-limiter.js';
import type { Logger } from '../response/logger.js';
import { ClientSecrets } from './client-secret-cache.js';
import { EventHub } from './event-hub.js';
import { RunningRequests } from './running-requests.js';

/** What the routes that tell of an intent share. */
export interface LiveEvents {
  readonly status: SharedStatus;
  readonly secrets: ClientSecrets;
  readonly connectionLimiter: ConnectionLimiter;
  readonly events: EventHub;
  readonly running: RunningRequests;
}

export interface LiveEventsOptions {
  readonly client: IntentClient;
  /** Makes the watch of intents, which asks for the status as it is told here. */
  readonly watch: (askStatus: AskStatus) => WatchIntent;
  readonly connections: ConnectionLimits;
  readonly logger: Logger;
  readonly now: () => number;
  /** Called when it is learnt in any way that an intent was submitted. */
  readonly onSubmitted?: ((id: string) => void) | undefined;
}

export function liveEvents({ client, watch, connections, logger, now, onSubmitted }: LiveEventsOptions): LiveEvents {
  const ask: AskStatus = (id, options) => client.paymentIntents.getStatus(id, options);
  const status = new SharedStatus({ ask, now, onSubmitted });
  const secrets = new ClientSecrets(now);
  // With those who ask just now, but not from what was answered before: a watch asks when something may have changed.
  const askStatus: AskStatus = (id, options) => status.get(id, { ...options, isFresh: true });
  const warn = (): void =>
    logger.warn(
      `express-intents: all ${connections.perProcess} streams of events are taken, and browsers are refused. Run more ` +
        'processes, or raise connections.perProcess.',
    );
  return {
    status,
    secrets,
    connectionLimiter: new ConnectionLimiter(connections, warn),
    events: new EventHub({ watch: watch(askStatus), status, secrets, logger }, connections),
    running: new RunningRequests(),
  };
}
