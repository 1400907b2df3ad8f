import type { RequestHandler } from 'express';
import type { Config } from '../config/config.js';
import type { SequencerConfig } from '../config/sequencer.js';
import type { RouterLogger } from '../http/logger.js';
import { localOriginOf } from '../net/url.js';
import { lazyTransport } from '../sequencer/create-transport.js';
import { createHttpTransport } from '../sequencer/http/http-transport.js';
import type { Transport } from '../sequencer/transport.js';

/** The addresses of the simulator. */
export interface SimulatorUrls {
  /** The base URL, such as `http://127.0.0.1:4747`. */
  readonly url: string;
  /** The page that shows the requests to the simulator. */
  readonly inspectorUrl: string;
  /** The page of the simulated wallet. */
  readonly walletUrl: string;
}

export interface SiteSimulator {
  readonly transport: Transport;
  ready(): Promise<SimulatorUrls>;
  webhookPublicKey(): Promise<string>;
  /** The page of its simulated wallet; undefined if it failed to start. */
  walletUrl(): Promise<string | undefined>;
  /** Wraps a router. With logins, a request registers its local origin, whose verifier key file the simulator then reads. */
  registerLocalOrigin(router: RequestHandler): RequestHandler;
  close(): Promise<void>;
}

/** The settings of the simulators of this process that start or run. */
const running = new Set<SequencerConfig>();

async function portFixFor(port: number): Promise<string> {
  const { default: cluster } = await import('node:cluster');
  if (cluster.isWorker) {
    return 'If another worker of the cluster has it, run `npx express-intents simulator`, and set the variables that it prints.';
  }
  const example = port < 65_535 ? port + 1 : 4747;
  return [...running].filter((one) => one.simulatorPort === port).length > 1
    ? `Another router of this process has the same port. Set simulator: { port: ${example} } in one of them, or run ` +
        '`npx express-intents simulator` for both.'
    : `Set INTENT_SIMULATOR_PORT, or the option simulator.port, to a free port: INTENT_SIMULATOR_PORT=${example}`;
}

/** Starts the simulator. Only this function loads it, so production processes never do. */
export function startSiteSimulator(config: Config, logger: RouterLogger): SiteSimulator {
  const { simulatorPort: port, simulatorState: stateFile, timeoutMs } = config.sequencer;
  running.add(config.sequencer);
  const starting = import('../simulator/index.js').then(async ({ startSimulatorWithPortFix }) => {
    const simulator = await startSimulatorWithPortFix({ port, stateFile }, await portFixFor(port));
    // On a Unix socket no request shows an origin.
    if (config.login) simulator.trust(config.login.domain, config.login.keyRing.publicKeys);
    return simulator;
  });
  // If `ready` is called before the start ends, its promise reports the outcome. Otherwise the log does.
  let isAwaited = false;
  starting.then(
    ({ url, walletUrl }) =>
      isAwaited || logger.info(`express-intents: simulator at ${url}, simulated wallet at ${walletUrl}`),
    (error: Error) => {
      running.delete(config.sequencer);
      if (!isAwaited) logger.error(`express-intents: ${error.message}`);
    },
  );
  return {
    transport: lazyTransport(async () => createHttpTransport({ url: (await starting).url, timeoutMs })),
    ready: async () => {
      isAwaited = true;
      const { url, inspectorUrl, walletUrl } = await starting;
      return { url, inspectorUrl, walletUrl };
    },
    webhookPublicKey: async () => (await starting).webhookPublicKey,
    walletUrl: async () => (await starting.catch(() => undefined))?.walletUrl,
    registerLocalOrigin: (router) => {
      let registered: string | undefined;
      // The first request shows the port, regardless of how the app called `listen`.
      return function intentRouter(req, res, next) {
        const origin = localOriginOf(req);
        if (config.login && origin !== undefined && origin !== registered) {
          registered = origin;
          const { domain } = config.login;
          // Runs before any call that this request causes: those wait for the same promise.
          void starting.then(
            (simulator) => simulator.setLocalDomain(domain, origin),
            () => undefined,
          );
        }
        return router(req, res, next);
      };
    },
    close: async () => {
      const simulator = await starting.catch(() => undefined);
      await simulator?.close();
      running.delete(config.sequencer);
    },
  };
}
