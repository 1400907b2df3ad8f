import express, { type Express } from 'express';
import { parseConfig } from '../../../src/config/config.js';
import type { StreamLimits } from '../../../src/config/config-options.js';
import { createTermsResolver } from '../../../src/http/create-intent/payment-terms.js';
import { EventHub, eventStreamLimiter } from '../../../src/http/events/event-hub.js';
import { PrivateIntentCache } from '../../../src/http/events/private-intent-cache.js';
import { hostCookie } from '../../../src/http/request/browser-cookie.js';
import { createRouter } from '../../../src/http/router.js';
import type { RouterContext } from '../../../src/http/router-context.js';
import { RunningRequests } from '../../../src/http/running-requests.js';
import { MemoryLoginStore } from '../../../src/http/session/login-store.js';
import { createWebhookVerifier } from '../../../src/http/webhook/verify-webhook.js';
import { createIntentClient } from '../../../src/sequencer/intent-client.js';
import { StatusCache } from '../../../src/sequencer/watch/status-cache.js';
import { pending, StatusTransport } from '../transports/status-transport.js';
import { FakeWatch } from './fake-watch.js';
import { serve } from './serve.js';
import { destination, type ExpressFactory, LogRecorder } from './site.js';

/** A site whose service and watches the test controls. */
export interface EventSite {
  readonly origin: string;
  readonly context: RouterContext;
  readonly transport: StatusTransport;
  readonly watch: FakeWatch;
  readonly log: LogRecorder;
  /** Advances the clock, in milliseconds. */
  pass(durationMs: number): void;
}

export interface EventSiteOptions {
  readonly factory?: ExpressFactory;
  readonly streamLimits?: Partial<StreamLimits>;
  readonly onCreated?: () => void;
  /** Called with each intent that the status cache reports as submitted, like a ledger. */
  readonly onSubmitted?: (id: string) => void;
  /** Base58 public key of the service whose webhook calls are accepted; without it none are. */
  readonly webhookPublicKey?: string;
  /** Middleware before the router. */
  readonly before?: (app: Express) => void;
}

/** Two intents, and an unknown id. */
export const intentId = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
export const otherIntentId = 'GH3eefoY4hEQ4C1iyTwnn96Xim6Twx4P5NBv8Anq1yht';

const open: Pick<EventSite, 'context' | 'transport'>[] = [];
const notAvailable = async (): Promise<never> => {
  throw new Error('This site has none.');
};

export async function startEventSite(options: EventSiteOptions = {}): Promise<EventSite> {
  const { factory = express, streamLimits, onCreated, onSubmitted, webhookPublicKey, before } = options;
  const [transport, watch, log] = [new StatusTransport(), new FakeWatch(), new LogRecorder()];
  let nowMs = 1_000_000;
  const now = (): number => nowMs;
  const config = parseConfig(
    { sequencer: { transport }, limits: { streams: streamLimits }, destination, login: false },
    {},
  );
  // A test may hold a call for any time.
  const client = createIntentClient({ transport, timeoutMs: 1_600_000 });
  const { streams: limits } = config.limits;
  const statusCache = new StatusCache({ fetchStatus: client.paymentIntents.getStatus, now });
  statusCache.subscribe(({ id, status }) => status.intentSubmitted && onSubmitted?.(id));
  const privateIntents = new PrivateIntentCache(now);
  const context: RouterContext = {
    config,
    client,
    fetchUserId: notAvailable,
    hooks: { onCreated },
    resolveTerms: createTermsResolver({ payment: () => ({ amount: '4.50', currency: 'usd' }) }),
    logger: log,
    browserCookie: hostCookie('intent', false),
    ledger: undefined,
    logins: new MemoryLoginStore(0, now),
    sessions: undefined,
    webhook: webhookPublicKey
      ? {
          verify: createWebhookVerifier({ webhookPublicKeys: async () => [webhookPublicKey], now }),
          register: () => undefined,
          setMountPath: () => undefined,
        }
      : undefined,
    walletUrl: async () => undefined,
    health: notAvailable,
    openApi: notAvailable,
    now,
    monotonicNow: now,
    statusCache,
    privateIntents,
    connectionLimiter: eventStreamLimiter(limits, log),
    events: new EventHub({ watch: watch.watch, statusCache, privateIntents, logger: log }, limits),
    running: new RunningRequests(),
  };
  open.push({ context, transport });
  const app = factory();
  before?.(app);
  app.use(createRouter(context));
  const pass = (durationMs: number): void => {
    nowMs += durationMs;
  };
  return { origin: await serve(app), context, transport, watch, log, pass };
}

afterEach(() => {
  for (const { context, transport } of open.splice(0)) {
    context.events.close();
    // The timer of a call that the test holds would keep the process alive.
    transport.answerWith(pending);
  }
});
