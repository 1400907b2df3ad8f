import type { RequestHandler } from 'express';
import type { Config } from '../config/config.js';
import type { Sequencer } from '../emulator/index.js';
import { localOriginOf } from '../http/request/origin-guard.js';
import type { RouterLogger } from '../http/response/logger.js';
import { lazyTransport } from '../sequencer/create-transport.js';
import { createHttpTransport } from '../sequencer/http/http-transport.js';
import type { Transport } from '../sequencer/transport.js';

/** Where the embedded sequencer is. */
export interface EmbeddedAddresses {
  /** base_url, such as `http://127.0.0.1:4747`. */
  readonly url: string;
  /** The page that shows what comes to the sequencer and what it does. */
  readonly inspectorUrl: string;
  /** The page of the simulated wallet. */
  readonly walletUrl: string;
}

/** The embedded sequencer of a router that was told to use one. */
export interface EmbeddedSequencer {
  readonly transport: Transport;
  ready(): Promise<EmbeddedAddresses>;
  /** The public key that signs its webhooks, Base58. */
  serviceKey(): Promise<string>;
  /** The page of its simulated wallet; undefined where it could not start, which others tell. */
  walletUrl(): Promise<string | undefined>;
  /** Puts a middleware in front that tells the sequencer from where it can read this site's verifier key file. */
  tellItWhereWeAre(router: RequestHandler): RequestHandler;
  close(): Promise<void>;
}

/** Starts the embedded sequencer, which is loaded only here: a production process never holds it. */
export function embeddedSequencer(config: Config, logger: RouterLogger): EmbeddedSequencer {
  const { emulatorPort: port, emulatorState: stateFile, timeoutMs } = config.sequencer;
  const starting = import('../emulator/index.js').then(({ startSequencer }) => startSequencer({ port, stateFile }));
  // Told once: by the promise to whoever asks for it, else by the log.
  let isAwaited = false;
  starting.then(
    ({ url, walletUrl }) =>
      isAwaited || logger.info(`express-intents: sequencer at ${url}, simulated wallet at ${walletUrl}`),
    (error: Error) => isAwaited || logger.error(`express-intents: ${error.message}`),
  );
  return {
    transport: lazyTransport(async () => createHttpTransport({ url: (await starting).url, timeoutMs })),
    ready: async () => {
      isAwaited = true;
      const { url, inspectorUrl, walletUrl } = await starting;
      return { url, inspectorUrl, walletUrl };
    },
    serviceKey: async () => (await starting).serviceKey,
    walletUrl: () =>
      starting.then(
        ({ walletUrl }) => walletUrl,
        () => undefined,
      ),
    tellItWhereWeAre: (router) => withLocalDomain(router, config, starting),
    close: async () => {
      const sequencer = await starting.catch(() => undefined);
      await sequencer?.close();
    },
  };
}

/** The port is known at the first request at the latest, whoever called `listen`. */
function withLocalDomain(router: RequestHandler, { login }: Config, starting: Promise<Sequencer>): RequestHandler {
  let known: string | undefined;
  return function intentRouter(req, res, next) {
    const origin = localOriginOf(req);
    if (login && origin !== undefined && origin !== known) {
      known = origin;
      // Runs before the call that this request may lead to, which waits for the same promise.
      void starting.then(
        (sequencer) => sequencer.setLocalDomain(login.domain, origin),
        () => undefined,
      );
    }
    return router(req, res, next);
  };
}
