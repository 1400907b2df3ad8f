import type { RequestHandler } from 'express';
import { onceInAWhile } from '../async/throttle-by-key.js';
import { type Config, namesDestination, type WebhookConfig } from '../config/config.js';
import { type LiveEvents, liveEvents } from '../http/events/live-events.js';
import { createLookAt } from '../http/events/look-at.js';
import { type RouterHealth, routerHealth } from '../http/operations/health.js';
import { type OpenApiDocument, openApiReader } from '../http/operations/openapi.js';
import { hostCookie } from '../http/request/browser-cookie.js';
import { routerLogger } from '../http/response/logger.js';
import { createRouter } from '../http/router.js';
import { LoginAttempts } from '../http/session/login-attempts.js';
import { createSessionStore } from '../http/session/session-store.js';
import { webhookRegistrar } from '../http/webhook/register-webhook.js';
import { createWebhookVerifier } from '../http/webhook/verify-webhook.js';
import type { IntentRecords, Ledger, SiteDatabase } from '../ledger/ledger.js';
import type { CallObserver } from '../sequencer/call-observer.js';
import { type IntentClient, type ObservedClient, observedClient } from '../sequencer/intent-client.js';
import type { Transport } from '../sequencer/transport.js';
import { transportTo } from '../sequencer/transport-to.js';
import { watchIntent } from '../sequencer/watch/watch-intent.js';
import { type EmbeddedAddresses, type EmbeddedSequencer, embeddedSequencer } from './embedded-sequencer.js';
import { databaseOf, type LedgerParts, recordsOf, routerLedger } from './ledger.js';
import { RouterObservation } from './observation.js';
import { type IntentRouterOptions, parseRouterOptions } from './options.js';

/** What `app.use()` takes, and what a server needs beside it. */
export interface IntentRouter extends RequestHandler {
  /** The client the routes use, to ask for a status from elsewhere in the app. */
  readonly client: IntentClient;
  /** The intents in the ledger. Without one everything that is asked of it rejects with `invalid_configuration`. */
  readonly intents: IntentRecords;
  /** The database of the ledger, for tables of the site's own; `tx` of the hooks writes to the same. As `intents` without one. */
  readonly database: SiteDatabase;
  /**
   * Resolves when the ledger is open and the embedded sequencer listens, with where; to undefined where there is no such
   * sequencer. Rejects with why not. A ledger is tried again all the same, as the log says: whoever does not end the
   * process then can go on, and await this again, which tells how the next try went.
   */
  ready(): Promise<EmbeddedAddresses | undefined>;
  /**
   * How this process is, for load balancers and for whoever looks after it: `down` is a reason to take it out, `degraded` one
   * to tell a person. Answers within a second, never rejects, and may be asked as often as one likes: what it looks at is
   * looked at once a second at most, and the service is asked only where it has answered nobody for 15 seconds.
   */
  health(): Promise<RouterHealth>;
  /**
   * The description of the routes as this site has them, OpenAPI 3.1: the same as at `/intent/v1/openapi.json`, to write it to
   * a file or to put it together with the app's own.
   */
  openApi(): Promise<OpenApiDocument>;
  /**
   * Ends the streams of events, lets requests, calls and hooks that run end, and closes what the router holds open; within
   * ten seconds. Who asks for something new meanwhile is refused with 503 `closing`, and every answer ends its connection.
   * Payments that come afterwards are settled by another process, or after the next start.
   */
  close(): Promise<void>;
}

/**
 * The routes of wallet payments and wallet logins, for `app.use(intentRouter())` at the root of the site.
 * @throws {ConfigError} with everything that is missing or wrong at once
 */
export function intentRouter(given: IntentRouterOptions = {}): IntentRouter {
  return composeRouter(given, routerLedger);
}

/** The same, with a ledger of its own. */
export function composeRouter(
  given: IntentRouterOptions,
  makeLedger: (parts: LedgerParts) => Ledger | undefined,
): IntentRouter {
  const { options, config, termsOf } = parseRouterOptions(given);
  const { now = Date.now } = options;
  const logger = routerLogger(options.logger ?? console);
  const embedded =
    config.sequencer.url === 'embedded' && !options.transport ? embeddedSequencer(config, logger) : undefined;
  const transport = options.transport ?? embedded?.transport ?? serviceTransport(config, options);
  const observation = new RouterObservation({ options, config, logger, now, secrets: () => live.secrets });
  const { observer } = observation;
  const observed = clientOf(config, transport, observer);
  const { client } = observed;
  const { login, isHttps, webhook, connections } = config;
  const live = liveEvents({
    ...{ client, connections, logger, now },
    watch: observation.watch((askStatus) => watchIntent(transport, { askStatus })),
    onSubmitted: onceInAWhile((id) => {
      observation.submitted(id);
      void ledger?.recheck(id);
    }, now),
  });
  const parts = { config, hooks: options, client, events: live.events, logger };
  const ledger = makeLedger({ ...parts, observer: observation.ofLedger });
  observation.watchLedger(ledger);
  const health = routerHealth({ config, observed, ledger, live, isEmbedded: embedded !== undefined });
  const openApi = openApiReader(config);
  const router = createRouter({
    ...{ config, client, termsOf, logger, ledger, now, observer },
    hooks: options,
    browserCookie: hostCookie('intent', isHttps),
    logins: ledger ?? new LoginAttempts(login?.ttlMs ?? 0, now),
    sessions: login && createSessionStore(login, config, now),
    webhook: webhook && {
      verify: observation.verify(createWebhookVerifier({ serviceKeys: serviceKeysOf(webhook, embedded), now })),
      register: webhookRegistrar(config, client, logger),
    },
    lookAt: createLookAt({ ask: observation.look((id) => live.events.look(id)), logger }),
    walletUrl: async () => config.walletUrl ?? embedded?.walletUrl(),
    ...{ health, openApi },
    ...live,
  });
  if (termsOf && !config.destination) logger.warn(`express-intents: ${noDestination}`);
  if (!termsOf && namesDestination(options)) logger.warn(`express-intents: ${noPaymentHook}`);
  for (const warning of config.warnings) logger.warn(`express-intents: ${warning}`);
  for (const notice of config.notices) logger.info(`express-intents: ${notice}`);
  return Object.assign(embedded ? embedded.tellItWhereWeAre(router) : router, {
    client,
    intents: recordsOf(ledger),
    database: databaseOf(ledger),
    ...{ health, openApi },
    ...lifeOf({ live, ledger, client, embedded, observation }),
  });
}

const noDestination =
  'INTENT_DESTINATION is not set: every payment must say in its terms which destination it goes to.';

const noPaymentHook =
  'INTENT_DESTINATION is set, and there is no `payment` hook, so this site takes no payments. Pass ' +
  'intentRouter({ payment: (req) => ({ amount, currency }) }), or unset INTENT_DESTINATION.';

function serviceTransport(
  { sequencer, production }: Config,
  { grpcNames, envelopeVersion }: IntentRouterOptions,
): Transport {
  const { url, grpcUrl, timeoutMs } = sequencer;
  // Whether http will do was for the configuration to say.
  return transportTo({ url, grpcUrl, grpcNames, envelopeVersion, dangerouslyAllowHttp: !production }, timeoutMs);
}

function clientOf({ sequencer }: Config, transport: Transport, observer: CallObserver | undefined): ObservedClient {
  const { dialect, timeoutMs, tryTimeoutMs } = sequencer;
  return observedClient({ transport, dialect, timeoutMs, tryTimeoutMs }, observer);
}

/** Set, or the embedded sequencer's own, which is known once that has started. */
function serviceKeysOf({ serviceKeys }: WebhookConfig, embedded: EmbeddedSequencer | undefined) {
  return async (): Promise<readonly string[]> => serviceKeys ?? (embedded ? [await embedded.serviceKey()] : []);
}

/** How long closing waits for requests that are being answered. */
const lastAnswersMs = 3_000;

interface Parts {
  readonly live: LiveEvents;
  readonly ledger: Ledger | undefined;
  readonly client: IntentClient;
  readonly embedded: EmbeddedSequencer | undefined;
  readonly observation: RouterObservation;
}

function lifeOf({ live, ledger, client, embedded, observation }: Parts): Pick<IntentRouter, 'ready' | 'close'> {
  return {
    ready: async () => {
      const [addresses] = await Promise.all([embedded?.ready(), ledger?.ready()]);
      return addresses;
    },
    close: async () => {
      live.events.close();
      live.running.closeConnections();
      // Who has come is still answered.
      await live.running.idle(lastAnswersMs);
      // While it ends what it has begun it may still ask the sequencer.
      await ledger?.close();
      await client.close();
      await embedded?.close();
      observation.close();
    },
  };
}
