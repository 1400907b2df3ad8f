import type { RequestHandler } from 'express';
import type { Config } from '../config/config.js';
import type { SequencerConfig } from '../config/sequencer.js';
import type { RouterLogger } from '../http/logger.js';
import { localOriginOf } from '../net/url.js';
import { lazyTransport } from '../sequencer/create-transport.js';
import { createHttpTransport } from '../sequencer/http/http-transport.js';
import type { Transport } from '../sequencer/transport.js';

/** The addresses of the embedded sequencer. */
export interface EmbeddedSequencerUrls {
  /** The base URL, such as `http://127.0.0.1:4747`. */
  readonly url: string;
  /** The page that shows the requests to the embedded sequencer. */
  readonly inspectorUrl: string;
  /** The page of the simulated wallet. */
  readonly walletUrl: string;
}

export interface EmbeddedSequencer {
  readonly transport: Transport;
  ready(): Promise<EmbeddedSequencerUrls>;
  webhookPublicKey(): Promise<string>;
  /** The page of its simulated wallet; undefined if it failed to start. */
  walletUrl(): Promise<string | undefined>;
  /** Wraps a router. With logins, a request registers its local origin, whose verifier key file the sequencer then reads. */
  registerLocalOrigin(router: RequestHandler): RequestHandler;
  close(): Promise<void>;
}

/** The settings of the embedded sequencers of this process that start or run. */
const running = new Set<SequencerConfig>();

async function portFixFor(port: number): Promise<string> {
  const { default: cluster } = await import('node:cluster');
  if (cluster.isWorker) {
    return 'If another worker of the cluster has it, run `npx express-intents sequencer`, and set the variables that it prints.';
  }
  const example = port < 65_535 ? port + 1 : 4747;
  return [...running].filter((one) => one.emulatorPort === port).length > 1
    ? `Another router of this process has the same port. Set emulator: { port: ${example} } in one of them, or run ` +
        '`npx express-intents sequencer` for both.'
    : `Set INTENT_EMULATOR_PORT, or the option emulator.port, to a free port: INTENT_EMULATOR_PORT=${example}`;
}

/** Starts the embedded sequencer. Only this function loads it, so production processes never do. */
export function embeddedSequencer(config: Config, logger: RouterLogger): EmbeddedSequencer {
  const { emulatorPort: port, emulatorState: stateFile, timeoutMs } = config.sequencer;
  running.add(config.sequencer);
  const starting = import('../emulator/index.js').then(async ({ startSequencerWithPortFix }) => {
    const sequencer = await startSequencerWithPortFix({ port, stateFile }, await portFixFor(port));
    // On a Unix socket no request shows an origin.
    if (config.login) sequencer.trust(config.login.domain, config.login.keyRing.publicKeys);
    return sequencer;
  });
  // If `ready` is called before the start ends, its promise reports the outcome. Otherwise the log does.
  let isAwaited = false;
  starting.then(
    ({ url, walletUrl }) =>
      isAwaited || logger.info(`express-intents: embedded sequencer at ${url}, simulated wallet at ${walletUrl}`),
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
            (sequencer) => sequencer.setLocalDomain(domain, origin),
            () => undefined,
          );
        }
        return router(req, res, next);
      };
    },
    close: async () => {
      const sequencer = await starting.catch(() => undefined);
      await sequencer?.close();
      running.delete(config.sequencer);
    },
  };
}
