import { createServer, type RequestListener, type Server } from 'node:http';
import { IntentError } from '../errors.js';
import type { SiteMetadata } from '../ledger/payment.js';
import { requireKnown } from '../reject-unknown.js';
import type { IntentRouterOptions } from '../router/options.js';
import type { Fault, FaultKind } from './faults/fault-kinds.js';
import { reversePayment } from './operations/payment.js';
import { KeyFileReader } from './outbound/fetch-key-file.js';
import { type SignedWebhook, type SignWebhookOptions, WebhookCaller, WebhookSigner } from './outbound/send-webhook.js';
import type { GrpcServer } from './servers/grpc-server.js';
import { createSimulatorApp } from './servers/http-server.js';
import { type InProcessTransport, inProcessTransport } from './servers/in-process-transport.js';
import { listen } from './servers/listen.js';
import { type StreamServer, serveWebSocketStreams } from './servers/websocket-server.js';
import { type SiteEnvironment, type SiteOptions, SiteSettings } from './site-settings.js';
import { type Clock, createClock } from './state/clock.js';
import { openState, type SimulatorState } from './state/simulator-state.js';
import { newOwner, requireFreeStateFile } from './state/state-owner.js';
import { type IntentMilestone, waitForMilestone } from './state/wait-for-milestone.js';
import { createWallet, type Wallet } from './wallet/wallet.js';

/** Options of a simulator. */
export interface StartSimulatorOptions {
  /** Port on 127.0.0.1. Default 0, any free port. */
  readonly port?: number | undefined;
  /** Port on 127.0.0.1 for gRPC, 0 for any free port; needs `@grpc/grpc-js`. Default: no gRPC. */
  readonly grpcPort?: number | undefined;
  /** Maps domains to origins on this machine, such as `http://127.0.0.1:3000`, from which their key files are read. */
  readonly localDomains?: Readonly<Record<string, string>> | undefined;
  /** Names of the simulated wallets. Default `['Ada', 'Ben', 'Mia']`. */
  readonly wallets?: readonly string[] | undefined;
  /** File that keeps intents across restarts, created if missing. One simulator at a time can use it. Default: none. */
  readonly stateFile?: string | undefined;
  /** The clock, ms since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Whether the process may exit while the simulator runs. Default true. */
  readonly unref?: boolean | undefined;
}

/** A running simulator. */
export interface Simulator {
  /** The base URL, such as `http://127.0.0.1:4747`. */
  readonly url: string;
  /** The gRPC URL, such as `http://127.0.0.1:4748`, with the option `grpcPort`. */
  readonly grpcUrl: string | undefined;
  /** The inspector page. */
  readonly inspectorUrl: string;
  /** The wallet page. A link to it has the client secret as its fragment. */
  readonly walletUrl: string;
  /** The public key that verifies its webhooks, Base58; new at every start. */
  readonly webhookPublicKey: string;
  /** The simulated wallets, in the order of the option `wallets`. */
  readonly wallets: readonly Wallet[];
  /** In-process calls, for the option `transport` of a client or a router under test. */
  readonly transport: InProcessTransport;
  /** The clock of the simulator, its wallets, and all sites with `siteOptions`. */
  readonly clock: Clock;
  /** The wallet with this name. Default: the first wallet. @throws {IntentError} `invalid_request` */
  wallet(name?: string): Wallet;
  /**
   * Adds to options of `intentRouter` what a site under test needs: the addresses of the simulator, a verifier key for
   * `login.domain` (default `shop.example`; always the same for one domain), a destination, the clock, and no limits of requests.
   * Given options take precedence. With `webhook: true`, also the key that verifies webhooks.
   * The simulator trusts the verifier key, so logins need no key file, unless `trust` or a local domain says otherwise.
   * @throws {IntentError} `invalid_domain`, `invalid_request`
   */
  siteOptions<Metadata extends object = SiteMetadata>(options?: IntentRouterOptions<Metadata>): SiteOptions<Metadata>;
  /** The same as environment variables, for a site in its own process; without the clock. @throws as `siteOptions` */
  siteEnvironment(site?: { readonly domain?: string | undefined }): SiteEnvironment;
  /**
   * Makes the simulator read the key file of a domain from an origin on this machine, such as `http://127.0.0.1:3000`, or from
   * an Express app, which is served while the file is read.
   * @throws {IntentError} `invalid_domain`, `invalid_configuration`
   */
  setLocalDomain(domain: string, site: string | RequestListener): void;
  /**
   * Trusts only these verifier keys, Base58, for a domain, instead of reading its key file.
   * @throws {IntentError} `invalid_domain`, `invalid_key`
   */
  trust(domain: string, publicKeys: readonly string[]): void;
  /**
   * Resolves once an intent reaches a milestone: `created`, `scanned`, `declined` or `submitted`.
   * @throws {AssertionError} after `timeoutMs`, default 5000 milliseconds, or when the simulator closes
   * @throws {TypeError} for an unknown milestone
   */
  waitFor(
    intentId: string,
    milestone: IntentMilestone,
    options?: { readonly timeoutMs?: number | undefined },
  ): Promise<void>;
  /**
   * Returns the webhook call of an intent, signed with the webhook key, or an invalid one. Sends nothing.
   * @throws {IntentError} `intent_not_found`, `invalid_request`
   */
  signWebhook(intentId: string, options?: SignWebhookOptions): Promise<SignedWebhook>;
  /**
   * Reverses a submitted payment: its status is that of an unpaid one (protocol section 6).
   * @throws {IntentError} `intent_not_found`, `invalid_request` for a payment that is not submitted, or a login
   */
  reverse(intentId: string): void;
  /**
   * Injects a fault, given as its kind or as an object. Returns a function that clears it. If several faults apply to a call,
   * the oldest is used. @throws {IntentError} `invalid_request`
   */
  injectFault(fault: Fault | FaultKind): () => void;
  /** Clears all faults. */
  clearFaults(): void;
  /** Closes the simulator and all its connections. Idempotent. */
  close(): Promise<void>;
}

const optionNames = ['port', 'grpcPort', 'localDomains', 'wallets', 'stateFile', 'now', 'unref'] as const;

/**
 * Starts a simulator on 127.0.0.1 for development and tests, with simulated wallets and without money.
 * @throws {IntentError} `invalid_domain`; `invalid_configuration` in production, or if a port or the state file cannot be
 * used, the origin of a local domain is not on this machine, or the gRPC package is missing
 */
export async function startSimulator(options: StartSimulatorOptions = {}): Promise<Simulator> {
  return startSimulatorWithPortFix(options, 'Set the option port to a free port, or omit it.');
}

/** As `startSimulator`. `portFix` says how to choose another port, for the error message. */
export async function startSimulatorWithPortFix(options: StartSimulatorOptions, portFix: string): Promise<Simulator> {
  refuseProduction();
  requireKnown('startSimulator', options, optionNames, 'invalid_configuration');
  const { port = 0, wallets: names = ['Ada', 'Ben', 'Mia'], unref = true, stateFile } = options;
  const clock = createClock(options.now);
  const closing = new AbortController();
  const signer = new WebhookSigner(clock.now);
  const webhooks = new WebhookCaller(signer, clock.now);
  const keyFiles = keyFilesOf(options);
  if (stateFile !== undefined) await requireFreeStateFile(stateFile);

  const server = createServer();
  const url = `http://127.0.0.1:${await listen(server, { port, fix: portFix, unref })}`;
  const wallets = names.map((name) => createWallet({ url, name, now: clock.now }));
  const open: { streams?: StreamServer; grpc?: GrpcServer | undefined; closeState?: () => void } = {};
  const closeAll = async (): Promise<void> => {
    closing.abort();
    open.streams?.close();
    await Promise.all([closeServer(server), open.grpc?.close()]);
    open.closeState?.();
  };
  try {
    const parts = { keyFiles, webhooks, closing: closing.signal, now: clock.now };
    const { state, close: closeState } = openState(parts, newOwner(url), stateFile);
    open.closeState = closeState;
    server.on('request', createSimulatorApp(state, wallets));
    open.streams = serveWebSocketStreams(server, state);
    open.grpc = await startGrpc(inProcessTransport(state, closing.signal, 'grpc'), options);

    let closed: Promise<void> | undefined;
    const addresses = { url, walletUrl: `${url}/wallet`, webhookPublicKey: signer.webhookPublicKey };
    return Object.freeze({
      ...addresses,
      grpcUrl: open.grpc?.url,
      inspectorUrl: `${url}/inspector`,
      wallets: Object.freeze(wallets),
      transport: inProcessTransport(state, closing.signal),
      clock,
      wallet: (name?: string) => findWallet(wallets, name),
      ...settingsFor(state, addresses),
      ...controlsOf(state, signer),
      close: () => {
        closed ??= closeAll();
        return closed;
      },
    });
  } catch (error) {
    await closeAll();
    throw error;
  }
}

function keyFilesOf({ localDomains = {} }: StartSimulatorOptions): KeyFileReader {
  const keyFiles = new KeyFileReader();
  for (const [domain, origin] of Object.entries(localDomains)) keyFiles.setLocalDomain(domain, origin);
  return keyFiles;
}

type Settings = Pick<Simulator, 'siteOptions' | 'siteEnvironment' | 'setLocalDomain' | 'trust'>;

function settingsFor(
  { keyFiles, now }: SimulatorState,
  addresses: Pick<Simulator, 'url' | 'walletUrl' | 'webhookPublicKey'>,
): Settings {
  const sites = new SiteSettings({ ...addresses, now, trust: (domain, keys) => keyFiles.trustByDefault(domain, keys) });
  return {
    siteOptions: (options) => sites.options(options),
    siteEnvironment: (site) => sites.environment(site),
    setLocalDomain: (domain, site) => keyFiles.setLocalDomain(domain, site),
    trust: (domain, publicKeys) => keyFiles.trust(domain, publicKeys),
  };
}

type Controls = Pick<Simulator, 'waitFor' | 'signWebhook' | 'reverse' | 'injectFault' | 'clearFaults'>;

function controlsOf(state: SimulatorState, signer: WebhookSigner): Controls {
  const { intents, faults } = state;
  return {
    waitFor: async (intentId, milestone, options = {}) => {
      requireKnown('simulator.waitFor', options, ['timeoutMs']);
      return waitForMilestone(state, intentId, milestone, options.timeoutMs ?? 5_000);
    },
    signWebhook: async (intentId, options) => {
      requireKnown('simulator.signWebhook', options, ['invalid', 'claims']);
      return signer.sign(intents.require(intentId), options);
    },
    reverse: (intentId) => reversePayment(state, intentId),
    injectFault: (fault) => {
      const id = faults.add(typeof fault === 'string' ? { kind: fault } : fault);
      return () => faults.clear(id);
    },
    clearFaults: () => faults.clearAll(),
  };
}

// The configuration also refuses production. This check covers a direct import.
function refuseProduction(): void {
  // biome-ignore lint: the one read outside config/, because a direct import of the simulator has no configuration.
  if (process.env.NODE_ENV?.trim() !== 'production') return;
  throw new IntentError(
    'invalid_configuration',
    'The simulator does not start with NODE_ENV=production, because it accepts payments without money. ' +
      'For development and tests, unset NODE_ENV. In production, set INTENT_SEQUENCER_URL to the URL of the sequencer.',
  );
}

/** Loads gRPC only when it is used. */
async function startGrpc(
  transport: InProcessTransport,
  options: StartSimulatorOptions,
): Promise<GrpcServer | undefined> {
  const { grpcPort: port, unref = true } = options;
  if (port === undefined) return undefined;
  const { startGrpcServer } = await import('./servers/grpc-server.js');
  return startGrpcServer(transport, { port, fix: 'Set --grpc-port or the option grpcPort to a free port.', unref });
}

function findWallet(wallets: readonly Wallet[], name?: string): Wallet {
  const wallet = name === undefined ? wallets[0] : wallets.find((one) => one.name === name);
  if (wallet) return wallet;
  const known = wallets.map((one) => one.name).join(', ');
  throw new IntentError(
    'invalid_request',
    name === undefined
      ? 'The option `wallets` is empty. Name at least one wallet.'
      : `Unknown wallet ${name}. The wallets are: ${known || 'none'}.`,
  );
}

async function closeServer(server: Server): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeAllConnections();
  await ended;
}
