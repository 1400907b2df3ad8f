import type { RequestHandler } from 'express';
import { LightAbortController } from '../async/abort.js';
import { BoundedMap } from '../async/bounded-map.js';
import { delayUnlessAborted, isTimerDelay, maxTimerMs } from '../async/timeout.js';
import { withCallerStacks } from '../caller-stack.js';
import { type Config, ignoreIfReturned, isDestinationSet, noDestination } from '../config/config.js';
import { IntentError, messageOf } from '../errors.js';
import { type CreatedPayment, type CreatePaymentOptions, createPayment } from '../http/create-intent/create-payment.js';
import { EventHub, eventStreamLimiter } from '../http/events/event-hub.js';
import { PrivateIntentCache } from '../http/events/private-intent-cache.js';
import type { SitePaymentTerms } from '../http/hooks.js';
import { type RouterLogger, routerLogger } from '../http/logger.js';
import { type RouterHealth, routerHealth } from '../http/operations/health.js';
import { type OpenApiDocument, openApiReader } from '../http/operations/openapi.js';
import { hostCookie } from '../http/request/browser-cookie.js';
import { createRouter } from '../http/router.js';
import type { RouterContext } from '../http/router-context.js';
import { RunningRequests } from '../http/running-requests.js';
import { MemoryLoginStore } from '../http/session/login-store.js';
import { createSessionStore } from '../http/session/session-store.js';
import { webhookRegistrar } from '../http/webhook/register-webhook.js';
import { createWebhookVerifier } from '../http/webhook/verify-webhook.js';
import type { IntentRecords, Ledger, SiteDatabase } from '../ledger/ledger.js';
import type { SiteMetadata } from '../ledger/payment.js';
import { requireKnown } from '../reject-unknown.js';
import { createTransport } from '../sequencer/create-transport.js';
import { forCallers, type IntentClient, type ObservedClient, observedClient } from '../sequencer/intent-client.js';
import type { Transport } from '../sequencer/transport.js';
import { type FetchStatus, StatusCache } from '../sequencer/watch/status-cache.js';
import { watchIntent } from '../sequencer/watch/watch-intent.js';
import { type Upstream, upstreamOf } from '../telemetry/open-telemetry.js';
import { type RouterObserver, routerObserver } from '../telemetry/router-observer.js';
import { type LedgerParts, ledgerDatabase, ledgerRecords, routerLedger } from './ledger.js';
import { logReady } from './log-ready.js';
import { type IntentRouterOptions, parseRouterOptions, type RouterSettings } from './options.js';
import { SequencerOutages } from './sequencer-outage.js';
import { type SimulatorUrls, type SiteSimulator, startSiteSimulator } from './simulator.js';
import { SubmissionTracker } from './submission-tracker.js';

/** The middleware for `app.use()`, and the site's access to payments and the ledger. */
export interface IntentRouter<Metadata extends object = SiteMetadata> extends RequestHandler {
  /** The client that the routes use, for calls by the app. */
  readonly client: IntentClient;
  /** The intents in the ledger. Without a ledger every method rejects with `invalid_configuration`. */
  readonly intents: IntentRecords<Metadata>;
  /**
   * Creates a payment without a browser, such as for the link in an invoice. The ledger polls it and calls `onPaid`. After an
   * error of the ledger or the sequencer, call this again with the same `idempotencyKey`: that creates no second payment.
   * @throws {IntentError} `invalid_configuration` without a ledger, or for `idempotencyKey` without logins and without `secret`; `invalid_terms`,
   *   `invalid_request`, `not_supported`, `invalid_idempotency_key`, `idempotency_key_reused`, `ledger_unavailable`, `closing`,
   *   `signer_failed`, `internal_error`, `too_busy`; the codes of the sequencer
   */
  createPayment(
    terms: Omit<SitePaymentTerms<Metadata>, 'resource'>,
    options?: CreatePaymentOptions,
  ): Promise<CreatedPayment>;
  /** The ledger's database, for the site's own tables; `tx` of the hooks uses it too. Without a ledger every call rejects. */
  readonly database: SiteDatabase;
  /**
   * Resolves when the ledger is open and the simulator listens. The value has the addresses of the simulator,
   * and is undefined without one. Rejects if either fails. Opening the ledger is retried: call `ready()` again to wait for the
   * next attempt.
   */
  ready(): Promise<SimulatorUrls | undefined>;
  /**
   * The health of this process. `down`: a load balancer should remove it. `degraded`: alert an operator. Resolves within a
   * second and never rejects. Frequent calls are cheap: each part is checked at most once a second, and the service is called
   * only if it has answered no other call for 15 seconds. A 5xx response is not an answer.
   */
  health(): Promise<RouterHealth>;
  /** The OpenAPI 3.1 description of the routes of this site, as at `/intent/v1/openapi.json`, but its server is always `/`. */
  openApi(): Promise<OpenApiDocument>;
  /**
   * Ends event streams, waits for running requests, calls and hooks, and closes its own connections. Call it before
   * `server.close()`. It usually takes less than ten seconds; a database or service that does not respond adds its timeouts. New
   * `POST` and `status` requests get 503 `closing`, and every response closes its connection. Later payments are settled by
   * another process or after the next start.
   *
   * With `drainMs` (milliseconds, default 0) it first waits this long, to give load balancers time to stop sending requests:
   * `health()` is `down` and responses close their connections, but all else works. A second call to `close()` ends the wait.
   * @throws {IntentError} `invalid_request` for an unknown option or an invalid `drainMs`, without closing
   */
  close(options?: { readonly drainMs?: number | undefined }): Promise<void>;
}

/**
 * The routes of wallet payments and wallet logins, for `app.use(intentRouter())` at the root of the site.
 * @throws {ConfigError} with all configuration errors
 */
export function intentRouter<Metadata extends object = SiteMetadata>(
  given: IntentRouterOptions<Metadata> = {},
): IntentRouter<Metadata> {
  // The router only stores metadata and returns it, so it does not depend on its type.
  const options = given as unknown as IntentRouterOptions;
  return composeRouter(options, routerLedger) as unknown as IntentRouter<Metadata>;
}

/** The ages need a monotonic clock. */
const monotonicClock = (): number => performance.now();

/** `intentRouter` with a ledger that the caller creates. */
export function composeRouter(
  given: IntentRouterOptions,
  makeLedger: (parts: LedgerParts) => Ledger | undefined,
): IntentRouter {
  const settings = parseRouterOptions(given);
  const { options, config } = settings;
  const { onEvent, telemetry } = options;
  const monotonicNow = options.testClock ?? monotonicClock;
  const logger = routerLogger(options.logger ?? console);

  const customTransport = options.sequencer?.transport;
  const isSimulated = config.sequencer.url === 'simulator' && !customTransport;
  const simulator = isSimulated ? startSiteSimulator(config, logger) : undefined;
  const transport = customTransport ?? simulator?.transport ?? serviceTransport(config, options);
  const observer = routerObserver({
    onEvent,
    telemetry,
    upstream: upstreamIn(config, options),
    logger,
    now: options.testClock,
  });
  const { dialect, timeoutMs } = config.sequencer;
  const observed = observedClient(
    { transport, dialect, timeoutMs },
    { observer, onOutcome: new SequencerOutages(logger).note },
  );
  const { client } = observed;

  // All status reads of the routes, the event feeds and the ledger go through the cache. The event feeds, telemetry and
  // the ledger subscribe to it.
  const onSubscriberError = (error: unknown) =>
    logger.error(
      'express-intents: a subscriber of the status cache failed. This is a bug in express-intents. Please report it.',
      { message: messageOf(error) },
    );
  const statusCache = new StatusCache({
    fetchStatus: client.paymentIntents.getStatus,
    now: monotonicNow,
    onSubscriberError,
  });
  const privateIntents = new PrivateIntentCache(monotonicNow);
  const tracker =
    observer &&
    new SubmissionTracker({ observer, privateIntents, hasLedger: config.ledger !== undefined, now: monotonicNow });
  const fetchStatus: FetchStatus = (id, { signal }) =>
    statusCache.get(id, { signal, bypassCache: true, source: 'stream' });
  const watch = watchIntent(transport, { fetchStatus });
  const events = new EventHub(
    { watch, statusCache, privateIntents, logger, onEvent: tracker?.onEvent },
    config.limits.streams,
  );
  // After the event feeds: they report a scan before the tracker reports the submission.
  if (tracker) statusCache.subscribe(tracker.onStatus);

  const ledgerParts = { config, hooks: options, observed, statusCache, events, logger };
  const ledger = makeLedger({ ...ledgerParts, observer: tracker?.ledgerObserver });
  // At most one recheck per intent in five seconds: if replicas of the service disagree, every response is an update and would
  // cause one. The ledger handles its own polls, and the webhook requests its own rechecks.
  const recentRechecks = new BoundedMap<true>({ ttlMs: 5_000, capacity: 10_000, now: monotonicNow });
  statusCache.subscribe(({ id, status, source }) => {
    if (!status.intentSubmitted || source === 'ledger' || source === 'webhook' || recentRechecks.get(id)) return;
    recentRechecks.set(id, true);
    void ledger?.recheck(id);
  });
  if (ledger) observer?.openTelemetry?.watchLedger(() => ledger.inspect());

  const parts = { settings, observed, statusCache, privateIntents, events, ledger, simulator, observer, logger };
  const context = routerContext(parts);
  const router = createRouter(context);
  logStartup(settings, logger);
  logReady(settings, ledger, logger);
  return Object.assign(simulator ? simulator.registerLocalOrigin(router) : router, {
    client: forCallers(client),
    intents: ledgerRecords(ledger),
    database: ledgerDatabase(ledger),
    health: context.health,
    openApi: context.openApi,
    ...withCallerStacks<Pick<IntentRouter, 'createPayment' | 'ready' | 'close'>>({
      createPayment: (terms, given) => createPayment(context, terms, given),
      ...lifecycle({ context, simulator, observer }),
    }),
  });
}

function serviceTransport(
  { sequencer, production }: Config,
  { sequencer: { grpcNames, envelopeVersion } = {} }: IntentRouterOptions,
): Transport {
  const { url, grpcUrl, timeoutMs } = sequencer;
  // The configuration has already rejected http where it is not allowed.
  return createTransport({ url, grpcUrl, grpcNames, envelopeVersion, dangerouslyAllowHttp: !production }, timeoutMs);
}

function upstreamIn({ sequencer: { url, grpcUrl } }: Config, options: IntentRouterOptions): Upstream {
  if (options.sequencer?.transport) return upstreamOf('custom', undefined);
  return grpcUrl === undefined ? upstreamOf('http', url) : upstreamOf('grpc', grpcUrl);
}

interface ContextParts {
  readonly settings: RouterSettings;
  readonly observed: ObservedClient;
  readonly statusCache: StatusCache;
  readonly privateIntents: PrivateIntentCache;
  readonly events: EventHub;
  readonly ledger: Ledger | undefined;
  readonly simulator: SiteSimulator | undefined;
  readonly observer: RouterObserver | undefined;
  readonly logger: RouterLogger;
}

function routerContext(parts: ContextParts): RouterContext {
  const { settings, observed, statusCache, privateIntents, events, ledger, simulator, observer, logger } = parts;
  const { options, config, resolveTerms } = settings;
  const { testClock: now = Date.now } = options;
  const { login, webhook, limits } = config;
  const { client, fetchUserId } = observed;
  const connectionLimiter = eventStreamLimiter(limits.streams, logger);
  const running = new RunningRequests();
  const webhookPublicKeys = async (): Promise<readonly string[]> =>
    webhook?.webhookPublicKeys ?? (simulator ? [await simulator.webhookPublicKey()] : []);
  return {
    config,
    client,
    fetchUserId,
    hooks: options,
    resolveTerms,
    logger,
    now,
    monotonicNow: options.testClock ?? monotonicClock,
    browserCookie: hostCookie('intent', config.isHttps),
    ledger,
    logins: ledger ?? new MemoryLoginStore(login?.ttlMs ?? 0, options.testClock ?? monotonicClock),
    sessions: login && createSessionStore(login, config, now),
    webhook: webhook && {
      verify: createWebhookVerifier({ webhookPublicKeys, now }),
      ...webhookRegistrar(config, client, logger),
    },
    statusCache,
    privateIntents,
    connectionLimiter,
    events,
    running,
    walletUrl: async () => config.walletUrl ?? simulator?.walletUrl(),
    openApi: openApiReader(config),
    health: routerHealth({
      config,
      observed,
      ledger,
      running,
      connectionLimiter,
      isSimulated: simulator !== undefined,
    }),
    observer,
  };
}

const noPaymentHook =
  'A destination is set, but without `payment` or `clientAmount` the pages of this site accept no payments. Add ' +
  'the hook: intentRouter({ payment: (req) => ({ amount, currency }) }). Or pass the destination only to router.createPayment.';

function logStartup({ options, config, resolveTerms }: RouterSettings, logger: RouterLogger): void {
  if (resolveTerms && !config.destination)
    logger.warn(`express-intents: ${noDestination.problem} ${noDestination.fix} ${ignoreIfReturned}.`);
  if (!resolveTerms && isDestinationSet(options)) logger.warn(`express-intents: ${noPaymentHook}`);
  for (const warning of config.warnings) logger.warn(`express-intents: ${warning}`);
  for (const notice of config.notices) logger.info(`express-intents: ${notice}`);
}

const requestsTimeoutMs = 3_000;

interface LifecycleParts {
  readonly context: RouterContext;
  readonly simulator: SiteSimulator | undefined;
  readonly observer: RouterObserver | undefined;
}

/** The states of a router: starting, ready, draining (only with `drainMs`), closing, closed. */
function lifecycle({ context, simulator, observer }: LifecycleParts): Pick<IntentRouter, 'ready' | 'close'> {
  const { events, running, ledger, client } = context;
  const drainEnd = new LightAbortController();
  return {
    ready: async () => {
      const opening = ledger?.ready();
      opening?.catch(() => undefined);
      // If both fail, always this error: a second start of a site fails here too, and this names the first one.
      const addresses = await simulator?.ready();
      await opening;
      return addresses;
    },
    close: async (options = {}) => {
      const drainMs = parseDrainMs(options);
      const waits = drainMs > 0 && !running.closesConnections;
      running.closeConnections();
      if (waits) await delayUnlessAborted(drainMs, [drainEnd]).catch(() => undefined);
      drainEnd.abort(undefined);
      events.close();
      await running.idle(requestsTimeoutMs);
      // Running work of the ledger may still call the sequencer.
      await ledger?.close();
      await client.close();
      await simulator?.close();
      observer?.openTelemetry?.close();
    },
  };
}

function parseDrainMs(options: { readonly drainMs?: number | undefined }): number {
  requireKnown('router.close', options, ['drainMs']);
  const { drainMs = 0 } = options;
  if (drainMs !== 0 && !isTimerDelay(drainMs)) {
    throw new IntentError(
      'invalid_request',
      `router.close: \`drainMs\` must be a whole number of milliseconds from 0 to ${maxTimerMs}, such as 5000.`,
    );
  }
  return drainMs;
}
