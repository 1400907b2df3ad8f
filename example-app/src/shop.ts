import { fileURLToPath } from 'node:url';
import express, { type Express } from 'express';
import { type IntentRouter, type IntentRouterOptions, intentRouter } from 'express-intents';
import helmet from 'helmet';
import { makeOrdersTable } from './orders.js';
import { pageRoutes } from './page-routes.js';
import { payments } from './till.js';
import { visitorCookie, visitorSession } from './visitor-session.js';

const publicFolder = fileURLToPath(new URL('../public/', import.meta.url));

/** A page may load what this site serves as a file, and nothing else; scripts and styles in the markup do not run. */
const contentSecurityPolicy = {
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    connectSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    formAction: ["'self'"],
    baseUri: ["'none'"],
    frameAncestors: ["'none'"],
  },
};

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
  app.use(helmet({ xFrameOptions: { action: 'deny' }, contentSecurityPolicy }));
  app.use(express.static(publicFolder, { index: false, redirect: false }));
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
