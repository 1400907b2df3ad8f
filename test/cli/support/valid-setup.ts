import express, { type Express } from 'express';
import { type Host, systemHost } from '../../../src/cli/command.js';
import { generateKeyPair } from '../../../src/keys/verifier-key.js';
import { composeRouter, type IntentRouter } from '../../../src/router/intent-router.js';
import { routerLedger } from '../../../src/router/ledger.js';
import type { IntentRouterOptions } from '../../../src/router/options.js';
import type { Transport } from '../../../src/sequencer/transport.js';
import { type Simulator, startSimulator } from '../../../src/simulator/index.js';
import { inProduction } from '../../attack/support/in-production.js';
import { newDatabaseUrl } from '../../support/databases/databases.js';
import { canaryOf } from '../../support/runner/secret-forms.js';
import { serve } from '../../support/sites/serve.js';
import { expiredCertificate, shopCertificate } from '../../support/sites/shop-certificates.js';
import { destination, LogRecorder } from '../../support/sites/site.js';
import { ShopFront } from './shop-front.js';

type Settings = Readonly<Record<string, string | undefined>>;

export const shopOrigin = 'https://shop-example.com';

/** A shop without faults, in production behind its proxy and in staging. */
export interface ValidSetup {
  readonly simulator: Simulator;
  readonly front: ShopFront;
  readonly keys: { readonly secret: string; readonly publicKey: string };
  /** The environment in production, which calls the sequencer over gRPC. */
  readonly production: Settings;
  /** The environment in staging, which calls the sequencer over its proxy. */
  readonly staging: Settings;
  readonly host: Host;
  /** Starts another site than the one behind the proxy. Returns its origin. */
  startSite(options?: SiteOptions): Promise<string>;
}

export interface SiteOptions extends IntentRouterOptions {
  readonly isDevelopment?: boolean;
  /** The setting `trust proxy`. Default 1. */
  readonly trustProxy?: number | boolean;
  /** Mounts the middleware of the app that precedes the router. */
  readonly before?: (app: Express) => void;
  /** The home page. */
  readonly home?: string;
  readonly mountPath?: string;
  readonly servesRootKeyFile?: boolean;
  /** The response time of the sequencer in milliseconds. Default 200. */
  readonly slowMs?: number;
}

const routers: IntentRouter[] = [];
const simulators: Simulator[] = [];

/** Delays calls, which shows whether the first event waits for the last. */
function delayed({ call, openStream, close }: Transport, ms: number): Transport {
  return {
    ...(openStream && { openStream }),
    close,
    call: async (...args) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return call(...args);
    },
  };
}

export async function startValidSetup(): Promise<ValidSetup> {
  const simulator = await startSimulator({ grpcPort: 0 });
  simulators.push(simulator);
  const keys = generateKeyPair();
  const webhookPublicKey = simulator.webhookPublicKey;
  const startSite: ValidSetup['startSite'] = async ({
    isDevelopment,
    before,
    mountPath,
    servesRootKeyFile = false,
    home,
    trustProxy = 1,
    slowMs = 200,
    ...options
  } = {}) => {
    const app = express();
    app.set('trust proxy', trustProxy);
    before?.(app);
    if (home !== undefined) app.get('/', (_req, res) => void res.send(home));
    const make = () =>
      composeRouter(
        {
          sequencer: { transport: delayed(simulator.transport, slowMs) },
          login: { verifierSecret: keys.secret, domain: 'shop-example.com' },
          secret: canaryOf('cookies'),
          ...{
            destination,
            webhook: { publicKeys: [webhookPublicKey] },
            origin: shopOrigin,
            limits: { requests: false },
          },
          logger: new LogRecorder(),
          ...options,
        },
        routerLedger,
      );
    const router = isDevelopment ? make() : await inProduction(make);
    routers.push(router);
    app.use(mountPath ?? '/', router);
    if (servesRootKeyFile) app.get('/.well-known/service-payments.json', router);
    return serve(app);
  };
  const site = await startSite();
  simulator.setLocalDomain('shop-example.com', site);
  const front = await ShopFront.start(site);
  const common = {
    INTENT_VERIFIER_SECRET: keys.secret,
    INTENT_DOMAIN: 'shop-example.com',
    INTENT_DESTINATION: destination,
    INTENT_SECRET: canaryOf('cookies'),
    INTENT_DATABASE_URL: await newDatabaseUrl('postgres'),
  };
  return {
    ...{ simulator, front, keys, startSite },
    production: {
      ...common,
      NODE_ENV: 'production',
      INTENT_ORIGIN: shopOrigin,
      INTENT_WEBHOOK_PUBLIC_KEY: webhookPublicKey,
      INTENT_WALLET_URL: `${shopOrigin}/intent/v1/elements.js`,
      INTENT_SEQUENCER_GRPC_URL: simulator.grpcUrl,
    },
    staging: { ...common, INTENT_SEQUENCER_URL: simulator.url },
    host: {
      ...systemHost,
      addressOf: (address) => (address.host === 'shop-example.com' ? { host: '127.0.0.1', port: front.port } : address),
      checkTimeoutMs: 8_000,
      ca: [shopCertificate.cert, expiredCertificate.cert],
    },
  };
}

afterAll(async () => {
  for (const router of routers.splice(0)) await router.close();
  for (const simulator of simulators.splice(0)) await simulator.close();
});
