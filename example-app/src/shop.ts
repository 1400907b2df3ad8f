import { fileURLToPath } from 'node:url';
import express, { type Express } from 'express';
import { type IntentRouter, type IntentRouterOptions, intentRouter } from 'express-intents';
import helmet from 'helmet';
import { createOrdersTable } from './orders.js';
import { pageRoutes } from './page-routes.js';
import { shopName } from './pages/layout.js';
import { payments } from './payments.js';
import { visitorCookie, visitorSession } from './visitor-session.js';

const publicFolder = fileURLToPath(new URL('../public/', import.meta.url));

/** Pages load files from this site only. Inline scripts and styles do not run. */
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
  /** Options of the intent router that override the environment. */
  readonly intents?: Omit<IntentRouterOptions, keyof typeof payments> | undefined;
  /** Whether the wallet is simulated. Default false. */
  readonly isSimulated?: boolean | undefined;
  /** Whether a proxy terminates TLS in front of the shop. Default false. */
  readonly trustProxy?: boolean | undefined;
}

export interface Shop {
  readonly app: Express;
  readonly router: IntentRouter;
  /** Resolves to the addresses of the simulator when the shop can take payments. */
  ready(): ReturnType<IntentRouter['ready']>;
}

/** The whole shop. @throws {ConfigError} if the configuration of the intent router is invalid */
export function createShop({ intents = {}, isSimulated = false, trustProxy = false }: ShopOptions = {}): Shop {
  const button = { name: shopName, logo: '/images/mark.svg', ...intents.button };
  const router = intentRouter({ routes: { health: '/healthz' }, ...intents, button, ...payments });
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
    const simulator = await router.ready();
    await createOrdersTable(router.database);
    return simulator;
  };
  return { app, router, ready };
}
