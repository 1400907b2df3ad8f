import { createServer, type RequestListener, type Server } from 'node:http';
import { IntentError } from '../errors.js';
import { requireKnown } from '../known-names.js';
import type { Fault, FaultKind } from './faults/fault.js';
import { reversePayment } from './operations/payment.js';
import { KeyFileReader } from './outbound/key-file.js';
import { type SignedWebhook, WebhookCaller, type WebhookOptions, WebhookSigner } from './outbound/webhook.js';
import type { GrpcServer } from './servers/grpc-server.js';
import { createSequencerApp } from './servers/http-server.js';
import { type InProcessTransport, inProcessTransport } from './servers/in-process-transport.js';
import { listen } from './servers/listen.js';
import { type StreamServer, serveWebSocketStreams } from './servers/websocket-server.js';
import { type SiteEnvironment, type SiteOptions, type SiteOptionsRequest, SiteSettings } from './site-settings.js';
import { type Clock, createClock } from './state/clock.js';
import { openState, type SequencerState } from './state/sequencer-state.js';
import { newOwner, requireFreeStateFile } from './state/state-owner.js';
import { type IntentMark, waitUntil } from './state/wait-until.js';
import { createWallet, type Wallet, walletSeed } from './wallet/wallet.js';

/** Options of an embedded sequencer. */
export interface SequencerOptions {
  /** Port on 127.0.0.1. Default 0: any free port. */
  readonly port?: number | undefined;
  /** Port on 127.0.0.1 for direct gRPC, 0 for any free port; needs `@grpc/grpc-js`. Default: no gRPC. */
  readonly grpcPort?: number | undefined;
  /** Domain to origin, such as `http://127.0.0.1:3000`: the key file of the domain is read there instead of over https. */
  readonly localDomains?: Readonly<Record<string, string>> | undefined;
  /** Names of the simulated wallets. Default Ada, Ben and Mia. */
  readonly wallets?: readonly string[] | undefined;
  /**
   * File that keeps intents across restarts, for one sequencer at a time; created if missing. Default: none, and intents are
   * in memory only.
   */
  readonly stateFile?: string | undefined;
  /** The sequencer's clock, ms since 1970. Default: the system's. */
  readonly now?: (() => number) | undefined;
  /** Whether the process may exit while the sequencer runs, such as after a test that failed before `close`. Default true. */
  readonly unref?: boolean | undefined;
}

/** A running embedded sequencer. */
export interface Sequencer {
  /** base_url, such as `http://127.0.0.1:4747`. */
  readonly url: string;
  /** grpc_url, such as `http://127.0.0.1:4748`, with the option `grpcPort`. */
  readonly grpcUrl: string | undefined;
  /** The page that shows what the sequencer receives and does. */
  readonly inspectorUrl: string;
  /** The wallet page. A link to it carries the client secret as its fragment. */
  readonly walletUrl: string;
  /** The public key that signs webhooks, Base58; new at every start. */
  readonly webhookPublicKey: string;
  /** Its simulated wallets, in the order of the option `wallets`. */
  readonly wallets: readonly Wallet[];
  /** A transport without a socket: the option `transport` of a client or a router under test. */
  readonly transport: InProcessTransport;
  /** The clock of the sequencer and its wallets, and of every site that uses `siteOptions`. */
  readonly clock: Clock;
  /** The wallet with a name, by default the first. @throws {IntentError} `invalid_request` */
  wallet(name?: string): Wallet;
  /**
   * Options of `intentRouter` for a site under test, with a verifier key that the sequencer trusts, so that its logins need no
   * key file. A domain gets the same options each time. @throws {IntentError} `invalid_domain`
   */
  siteOptions(request?: SiteOptionsRequest): SiteOptions;
  /** The same as environment variables, for a site in its own process. @throws as `siteOptions` */
  siteEnvironment(request?: SiteOptionsRequest): SiteEnvironment;
  /**
   * Reads the key file of a domain in a test instead of over https: at an origin of this machine, such as
   * `http://127.0.0.1:3000`, or from an Express app, which is served while the file is read.
   * @throws {IntentError} `invalid_domain`, `invalid_configuration`
   */
  setLocalDomain(domain: string, site: string | RequestListener): void;
  /** Trusts these verifier keys, Base58, for a domain instead of reading its key file. @throws {IntentError} `invalid_domain`, `invalid_key` */
  trust(domain: string, publicKeys: readonly string[]): void;
  /**
   * Resolves once an intent has reached a mark: `exists`, `code_scanned`, `declined` or `intent_submitted`.
   * @throws {AssertionError} when it has not within `timeoutMs`, by default 5000 milliseconds; the message has the marks it reached
   */
  waitFor(intentId: string, mark: IntentMark, options?: { readonly timeoutMs?: number | undefined }): Promise<void>;
  /**
   * The webhook call of an intent, signed with the service key, as the service sends it after submission; or an invalid one.
   * Nothing is sent. @throws {IntentError} `intent_not_found`
   */
  signWebhook(intentId: string, options?: WebhookOptions): Promise<SignedWebhook>;
  /** Reverses a submitted payment: its status is again that of an unpaid one (protocol section 6). @throws {IntentError} `intent_not_found` */
  reverse(intentId: string): void;
  /**
   * Injects a fault, by its kind or with its settings. Returns a function that clears this fault. Of several faults that apply to
   * a call, the oldest is used. @throws {IntentError} `invalid_request`
   */
  injectFault(fault: Fault | FaultKind): () => void;
  /** Clears all faults. */
  clearFaults(): void;
  /** Closes the sequencer and all its connections. Idempotent. */
  close(): Promise<void>;
}

const optionNames = ['port', 'grpcPort', 'localDomains', 'wallets', 'stateFile', 'now', 'unref'] as const;

/**
 * Starts a sequencer for development and tests, with simulated wallets: on 127.0.0.1, in memory or with a state file, without
 * money.
 * @throws {IntentError} `invalid_configuration`: in production, for a port or a state file in use, a wrong local domain, a
 * damaged state file, or gRPC without its package
 */
export async function startSequencer(options: SequencerOptions = {}): Promise<Sequencer> {
  refuseProduction();
  requireKnown('startSequencer', options, optionNames, 'invalid_configuration');
  const { port = 0, wallets: names = ['Ada', 'Ben', 'Mia'], unref = true, stateFile } = options;
  const clock = createClock(options.now);
  const closing = new AbortController();
  const signer = new WebhookSigner(clock.now);
  const webhooks = new WebhookCaller(signer, clock.now);
  const keyFiles = keyFilesOf(options);
  if (stateFile !== undefined) await requireFreeStateFile(stateFile, port);

  const server = createServer();
  const url = `http://127.0.0.1:${await listen(server, { port, setting: 'INTENT_EMULATOR_PORT', unref })}`;
  const wallets = names.map((name) => createWallet({ url, name, seed: walletSeed(name), now: clock.now }));
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
    server.on('request', createSequencerApp(state, wallets));
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

function keyFilesOf({ localDomains = {} }: SequencerOptions): KeyFileReader {
  const keyFiles = new KeyFileReader();
  for (const [domain, origin] of Object.entries(localDomains)) keyFiles.setLocalDomain(domain, origin);
  return keyFiles;
}

type Settings = Pick<Sequencer, 'siteOptions' | 'siteEnvironment' | 'setLocalDomain' | 'trust'>;

/** Settings of sites under test, and what the sequencer knows about their domains. */
function settingsFor(
  { keyFiles, now }: SequencerState,
  addresses: Pick<Sequencer, 'url' | 'walletUrl' | 'webhookPublicKey'>,
): Settings {
  const trust = (domain: string, publicKeys: readonly string[]) => keyFiles.trust(domain, publicKeys);
  const sites = new SiteSettings({ ...addresses, now, trust });
  return {
    siteOptions: (request) => sites.options(request),
    siteEnvironment: (request) => sites.environment(request),
    setLocalDomain: (domain, site) => keyFiles.setLocalDomain(domain, site),
    trust,
  };
}

type Controls = Pick<Sequencer, 'waitFor' | 'signWebhook' | 'reverse' | 'injectFault' | 'clearFaults'>;

/** What a test observes and changes while the sequencer runs. */
function controlsOf(state: SequencerState, signer: WebhookSigner): Controls {
  const { intents, faults } = state;
  return {
    waitFor: async (intentId, mark, options = {}) => {
      requireKnown('waitFor', options, ['timeoutMs']);
      return waitUntil(state, intentId, mark, options.timeoutMs ?? 5_000);
    },
    signWebhook: async (intentId, options) => {
      requireKnown('signWebhook', options, ['invalid', 'claims']);
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

// The configuration refuses it too. This check also covers a direct import.
function refuseProduction(): void {
  // biome-ignore lint: the one read outside config/, because a direct import of the emulator has no configuration.
  if (process.env.NODE_ENV !== 'production') return;
  throw new IntentError(
    'invalid_configuration',
    'The embedded sequencer does not start with NODE_ENV=production: it accepts payments without money.',
  );
}

/** Loads gRPC only when it is used. */
async function startGrpc(transport: InProcessTransport, options: SequencerOptions): Promise<GrpcServer | undefined> {
  const { grpcPort: port, unref = true } = options;
  if (port === undefined) return undefined;
  const { startGrpcServer } = await import('./servers/grpc-server.js');
  return startGrpcServer(transport, { port, setting: 'grpcPort', unref });
}

function findWallet(wallets: readonly Wallet[], name?: string): Wallet {
  const wallet = name === undefined ? wallets[0] : wallets.find((one) => one.name === name);
  if (wallet) return wallet;
  const known = wallets.map((one) => one.name).join(', ');
  throw new IntentError(
    'invalid_request',
    name === undefined ? 'There are no wallets.' : `Unknown wallet ${name}. The wallets are: ${known || 'none'}.`,
  );
}

async function closeServer(server: Server): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeAllConnections();
  await ended;
}
