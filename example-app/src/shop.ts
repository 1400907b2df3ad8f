import express, { type Express } from 'express';
import { type IntentRouter, type IntentRouterOptions, intentRouter } from 'express-intents';
import { makeOrdersTable } from './orders.js';
import { pageRoutes } from './page-routes.js';
import { securityHeaders } from './security-headers.js';
import { showStates } from './show-states.js';
import { staticFiles } from './static-files.js';
import { payments } from './till.js';
import { visitorCookie } from './visitor-cookie.js';
import { visitorSession } from './visitor-session.js';

export interface ShopOptions {
  /** For the intent router, where the environment is not to decide. */
  readonly intents?: Omit<IntentRouterOptions, keyof typeof payments> | undefined;
  /** Whether the wallet is one for trying things out. Default false. */
  readonly isSimulated?: boolean | undefined;
  /** Whether a proxy that ends TLS stands in front. Default false. */
  readonly trustProxy?: boolean | undefined;
}

export interface Shop {
  readonly app: Express;
  readonly router: IntentRouter;
  /** Resolves when the shop can sell something, with where the embedded sequencer is. @throws why it cannot */
  ready(): ReturnType<IntentRouter['ready']>;
}

/** The whole shop, ready to listen. @throws {ConfigError} when the intent router lacks something */
export function createShop({ intents = {}, isSimulated = false, trustProxy = false }: ShopOptions = {}): Shop {
  const router = intentRouter({ routes: { health: '/healthz' }, ...intents, ...payments });
  const app = express();
  app.disable('x-powered-by');
  app.set('trust proxy', trustProxy ? 1 : false);
  app.use(securityHeaders());
  app.use(staticFiles());
  app.use('/states', showStates());
  app.use(visitorCookie());
  app.use(visitorSession());
  app.use(router);
  app.use(pageRoutes(router, isSimulated));
  const ready = async () => {
    const embedded = await router.ready();
    await makeOrdersTable(router.database);
    return embedded;
  };
  return { app, router, ready };
}
