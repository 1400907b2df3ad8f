import { createServer, type RequestListener, type Server } from 'node:http';
import { IntentError } from '../errors.js';
import type { Fault } from './faults/fault.js';
import type { FaultKind } from './faults/fault-kinds.js';
import { reverseSubmission } from './operations/submission.js';
import { KeyFileReader } from './outbound/key-file.js';
import { type SignedWebhook, type WebhookOptions, WebhookSigner } from './outbound/sign-webhook.js';
import { WebhookCaller } from './outbound/webhook.js';
import type { GrpcServer } from './servers/grpc-server.js';
import { type InProcessTransport, inProcessTransport } from './servers/in-process-transport.js';
import { listen } from './servers/listen.js';
import { serveMessageStreams } from './servers/serve-message-streams.js';
import { createApp } from './servers/server.js';
import { type Clock, createClock } from './state/clock.js';
import { openState } from './state/open-state.js';
import type { SequencerState } from './state/sequencer-state.js';
import {
  type SiteEnvironment,
  type SiteOptions,
  type SiteOptionsRequest,
  SiteSettings,
} from './state/site-settings.js';
import { newOwner, requireFreeStateFile } from './state/state-owner.js';
import { type IntentMark, until } from './state/until.js';
import { createWallet, type Wallet } from './wallet/wallet.js';
import { walletSeed } from './wallet/wallet-seed.js';

/** How an embedded sequencer is started. */
export interface SequencerOptions {
  /** Port on 127.0.0.1. Default 0: any free one. */
  readonly port?: number | undefined;
  /** Port on 127.0.0.1 for direct gRPC, 0 for any free one; needs `@grpc/grpc-js`. Default: none. */
  readonly grpcPort?: number | undefined;
  /** Domain to origin, such as `http://127.0.0.1:3000`: there its key file is read, and not over https. */
  readonly localDomains?: Readonly<Record<string, string>> | undefined;
  /** Names of the simulated wallets. Default Ada, Ben and Mia. */
  readonly wallets?: readonly string[] | undefined;
  /**
   * A file that intents outlive the process in, for one sequencer at a time; made where there is none. Default: none, and
   * everything is forgotten with the process.
   */
  readonly stateFile?: string | undefined;
  /** The time that the sequencer's clock goes by, ms since 1970. Default: the system's. */
  readonly now?: (() => number) | undefined;
  /** Whether the process may end while the sequencer runs: a test that failed before `close` ends all the same. Default true. */
  readonly unref?: boolean | undefined;
}

/** An embedded sequencer that runs. */
export interface Sequencer {
  /** base_url, such as `http://127.0.0.1:4747`. */
  readonly url: string;
  /** grpc_url, such as `http://127.0.0.1:4748`, where `grpcPort` was given. */
  readonly grpcUrl: string | undefined;
  /** Where a person sees what comes to the sequencer and what it does. */
  readonly inspectorUrl: string;
  /** Where the wallet page is. A link to it carries the client secret as its fragment. */
  readonly walletUrl: string;
  /** The public key that signs webhooks, Base58; another one at every start. */
  readonly serviceKey: string;
  /** Its simulated wallets, in the order of their names in the options. */
  readonly wallets: readonly Wallet[];
  /** The way to it without a socket: the option `transport` of a client or a router under test. */
  readonly transport: InProcessTransport;
  /** The time at the sequencer and its wallets, and at every site that has it from `siteOptions`. */
  readonly clock: Clock;
  /** The wallet of a name, by default the first. @throws {IntentError} `invalid_request` */
  wallet(name?: string): Wallet;
  /**
   * Options of `intentRouter` for a site under test, with a verifier key of its own that the sequencer trusts: so its logins
   * need no key file. The same for the same domain each time. @throws {IntentError} `invalid_domain`
   */
  siteOptions(request?: SiteOptionsRequest): SiteOptions;
  /** The same as environment variables, for a site in a process of its own. @throws as `siteOptions` */
  siteEnvironment(request?: SiteOptionsRequest): SiteEnvironment;
  /**
   * Has the key file of a domain read where a test has it, and not over https: at an origin of this machine, such as
   * `http://127.0.0.1:3000`, or from an Express app, which is served for as long as that takes.
   * @throws {IntentError} `invalid_domain`, `invalid_configuration`
   */
  setLocalDomain(domain: string, site: string | RequestListener): void;
  /** Takes these verifier keys, Base58, to be published at a domain, and asks nobody. @throws {IntentError} `invalid_domain`, `invalid_key` */
  trust(domain: string, publicKeys: readonly string[]): void;
  /**
   * Resolves once an intent has come so far: `exists`, `code_scanned`, `rejected` or `intent_submitted`.
   * @throws {AssertionError} when it has not within `timeoutMs`, by default 5000 milliseconds, with how far it has come
   */
  until(intentId: string, mark: IntentMark, options?: { readonly timeoutMs?: number | undefined }): Promise<void>;
  /**
   * The webhook call for an intent, signed with the service key, as the service sends it once the intent is submitted; or a
   * wrong one. Nothing is sent. @throws {IntentError} `intent_not_found`
   */
  signWebhook(intentId: string, options?: WebhookOptions): Promise<SignedWebhook>;
  /** Makes a submitted payment fail after all: its status turns back (protocol section 6). @throws {IntentError} `intent_not_found` */
  reverse(intentId: string): void;
  /**
   * Lets it fail on purpose from now on, by the name of a fault or with its settings; gives a function that ends this
   * fault. Of several that concern a call, it meets the one that was switched on first. @throws {IntentError} `invalid_request`
   */
  misbehave(fault: Fault | FaultKind): () => void;
  /** Ends all faults. */
  behave(): void;
  /** Ends it with all its connections. Can be called again. */
  close(): Promise<void>;
}

/**
 * Starts a sequencer for development and tests, with simulated wallets: on 127.0.0.1, in memory or with a file, without money.
 * @throws {IntentError} `invalid_configuration`: in production, when a port or the state file is in use, for a wrong local
 * domain, for a state file that is none, or for gRPC without its package
 */
export async function startSequencer(options: SequencerOptions = {}): Promise<Sequencer> {
  refuseProduction();
  const { port = 0, wallets: names = ['Ada', 'Ben', 'Mia'], unref = true } = options;
  const clock = createClock(options.now);
  const closing = new AbortController();
  const signer = new WebhookSigner(clock.now);
  const webhooks = new WebhookCaller(signer, clock.now);
  const parts = { keyFiles: keyFilesOf(options), webhooks, closing: closing.signal, now: clock.now };
  if (options.stateFile !== undefined) await requireFreeStateFile(options.stateFile, port);
  const server = createServer();
  const url = `http://127.0.0.1:${await listen(server, { port, setting: 'INTENT_EMULATOR_PORT', unref })}`;
  const wallets = names.map((name) => createWallet({ url, name, seed: walletSeed(name), now: clock.now }));
  const { state, close: closeState } = await openState(parts, newOwner(url), options.stateFile).catch(async (error) => {
    await close(server);
    throw error;
  });
  server.on('request', createApp(state, wallets));
  const streams = serveMessageStreams(server, state);
  const transport = inProcessTransport(state, closing.signal);
  const grpc = await startGrpc(inProcessTransport(state, closing.signal, 'grpc'), options).catch(async (error) => {
    streams.close();
    await close(server);
    closeState();
    throw error;
  });

  let closed: Promise<void> | undefined;
  const addresses = { url, walletUrl: `${url}/wallet`, serviceKey: signer.serviceKey };
  return Object.freeze({
    ...addresses,
    grpcUrl: grpc?.url,
    inspectorUrl: `${url}/inspector`,
    wallets: Object.freeze(wallets),
    transport,
    clock,
    wallet: (name?: string) => findWallet(wallets, name),
    ...settingsFor(state, addresses),
    ...controlsOf(state, signer),
    close: () => {
      closing.abort();
      streams.close();
      closed ??= Promise.all([close(server), grpc?.close()]).then(closeState);
      return closed;
    },
  });
}

function keyFilesOf({ localDomains = {} }: SequencerOptions): KeyFileReader {
  const keyFiles = new KeyFileReader();
  for (const [domain, origin] of Object.entries(localDomains)) keyFiles.setLocalDomain(domain, origin);
  return keyFiles;
}

type Settings = Pick<Sequencer, 'siteOptions' | 'siteEnvironment' | 'setLocalDomain' | 'trust'>;

/** What a site under test is set to, and what the sequencer then knows of it. */
function settingsFor(
  { keyFiles, now }: SequencerState,
  addresses: Pick<Sequencer, 'url' | 'walletUrl' | 'serviceKey'>,
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

type Controls = Pick<Sequencer, 'until' | 'signWebhook' | 'reverse' | 'misbehave' | 'behave'>;

/** What a test looks at and changes while the sequencer runs. */
function controlsOf(state: SequencerState, signer: WebhookSigner): Controls {
  const { intents, faults } = state;
  return {
    until: (intentId, mark, { timeoutMs = 5_000 } = {}) => until(state, intentId, mark, timeoutMs),
    signWebhook: async (intentId, options) => signer.sign(intents.require(intentId), options),
    reverse: (intentId) => reverseSubmission(state, intentId),
    misbehave: (fault) => {
      const id = faults.add(typeof fault === 'string' ? { kind: fault } : fault);
      return () => faults.end(id);
    },
    behave: () => faults.endAll(),
  };
}

// The last safety: whoever imports this directly goes past the configuration, which refuses it too.
function refuseProduction(): void {
  // biome-ignore lint: the one read outside config/, because a direct import of the emulator has no configuration.
  if (process.env.NODE_ENV !== 'production') return;
  throw new IntentError(
    'invalid_configuration',
    'The embedded sequencer takes play money for real: it does not start with NODE_ENV=production.',
  );
}

/** Loaded only when it is asked for, with the package that it needs. */
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
  throw new IntentError('invalid_request', `There is no wallet ${name ?? 'at all'}: there are ${known || 'none'}.`);
}

async function close(server: Server): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeAllConnections();
  await ended;
}
