import type { Request, Response } from 'express';
import type { Config } from '../config/config.js';
import type { Ledger } from '../ledger/ledger.js';
import type { IntentClient, ObservedClient } from '../sequencer/intent-client.js';
import type { StatusCache } from '../sequencer/watch/status-cache.js';
import type { Observer } from '../telemetry/router-event.js';
import type { TermsResolver } from './create-intent/payment-terms.js';
import type { EventHub } from './events/event-hub.js';
import type { PrivateIntentCache } from './events/private-intent-cache.js';
import type { Hooks } from './hooks.js';
import type { ConnectionLimiter } from './limits/connection-limiter.js';
import type { Logger } from './logger.js';
import type { RouterHealth } from './operations/health.js';
import type { OpenApiDocument } from './operations/openapi.js';
import type { HostCookie } from './request/browser-cookie.js';
import type { RunningRequests } from './running-requests.js';
import type { LoginStore } from './session/login-store.js';
import type { SessionStore } from './session/session-store.js';
import type { WebhookRegistrar } from './webhook/register-webhook.js';
import type { WebhookVerifier } from './webhook/verify-webhook.js';

/** Shared by the handlers; created once with the router. */
export interface RouterContext {
  readonly config: Config;
  readonly client: IntentClient;
  readonly fetchUserId: ObservedClient['fetchUserId'];
  readonly hooks: Hooks;
  /** Undefined if the site accepts no payments. */
  readonly resolveTerms: TermsResolver | undefined;
  readonly logger: Logger;
  readonly browserCookie: HostCookie;
  readonly ledger: Ledger | undefined;
  /** The ledger; without one, login attempts in memory. */
  readonly logins: LoginStore;
  readonly sessions: SessionStore | undefined;
  readonly webhook: (WebhookRegistrar & { readonly verify: WebhookVerifier }) | undefined;
  readonly statusCache: StatusCache;
  readonly privateIntents: PrivateIntentCache;
  readonly connectionLimiter: ConnectionLimiter;
  readonly events: EventHub;
  readonly running: RunningRequests;
  /** The system clock, in milliseconds since 1970. */
  readonly now: () => number;
  /** A monotonic clock, in milliseconds, for ages. */
  readonly monotonicNow: () => number;
  /** The base URL of wallet links; undefined if there is none. */
  readonly walletUrl: () => Promise<string | undefined>;
  readonly openApi: () => Promise<OpenApiDocument>;
  readonly health: () => Promise<RouterHealth>;
  readonly observer?: Observer | undefined;
}

/** Responds to a request or throws an error. `path` follows the route: the id in `/status/:id`, a file name, or empty. */
export type Handler = (req: Request, res: Response, path: string) => void | Promise<void>;
