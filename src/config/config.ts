import type { Store } from 'express-rate-limit';
import { ConfigError, type ConfigProblem } from '../errors.js';
import type { VerifierKeyRing } from '../keys/key-ring.js';
import type { Signer } from '../keys/verifier-key.js';
import type { LedgerSettings } from '../ledger/ledger-settings.js';
import type { GrpcNames } from '../sequencer/grpc/grpc-names.js';
import type { Transport } from '../sequencer/transport.js';
import { readConnectionLimits } from './connection-limits.js';
import { type MisspeltVariable, misspeltVariables, modeWarnings } from './known-variables.js';
import { ledgerMend, readLedger } from './ledger-settings.js';
import { readKeyRing, readLogin } from './login-settings.js';
import { readRateLimits } from './rate-limits.js';
import { Report } from './report.js';
import { readSequencer } from './sequencer-settings.js';
import { readDestination, readOrigin, readReturnOrigins, readRoutes, readWalletUrl } from './site-settings.js';
import { readWebhook } from './webhook-settings.js';

/** Paths of the routes; `false` switches one off. */
export interface Routes {
  /** Default `/intent`. */
  readonly intent: string | false;
  /** Default `/status`; the id follows it. */
  readonly status: string | false;
  /** Default `/intent`; the id and `/events` follow it. */
  readonly events: string | false;
  /** Default `/intent/v1`; the names of the browser's files follow it (interface section 9.3). */
  readonly elements: string | false;
  /** Default `/intent/webhook`. */
  readonly webhook: string | false;
  /** Default `/session`. */
  readonly session: string | false;
  /** Default `/.well-known/service-payments.json`, which is where wallets look (interface section 4.6). */
  readonly keyFile: string | false;
  /** Default `/intent/v1/openapi.json`: the description of these routes as they are (OpenAPI 3.1). */
  readonly openapi: string | false;
  /** Default false: no route. Tells load balancers whether to take this process out; often `/healthz`. */
  readonly health: string | false;
}

/** How many streams of events may be open at once. */
export interface ConnectionLimits {
  /** Of one browser, known by its cookie. Default 3. */
  readonly perBrowser: number;
  /** Of one address (`req.ip`, so that `trust proxy` counts), or of one /56 of IPv6; a /48 has eight times as many. Default 20. */
  readonly perAddress: number;
  /** Of all visitors of this process. Default 5000. */
  readonly perProcess: number;
}

/**
 * How often an address may come within a window; more is refused with 429. An address is `req.ip`, so that `trust proxy`
 * counts, or a /56 of IPv6; a /48 may come eight times as often.
 */
export interface RateLimits {
  /** `POST /intent`. Default 120. */
  readonly intent: number;
  /** `POST /session` and `DELETE /session`. Default 120. */
  readonly session: number;
  /** `GET /status/:id`, and streams of events that are opened. Default 3000. */
  readonly status: number;
  /** Webhook calls that are refused; what the service has signed is not counted. Default 600. */
  readonly webhook: number;
  /** In milliseconds. Default 60 000. */
  readonly windowMs: number;
  /** A store of express-rate-limit, to count for all processes. Without it, and while it fails, each counts for itself. */
  readonly store: Store | undefined;
}

/** What can be set by an option or, where one is named, by an environment variable; the option wins. */
export interface ConfigOptions extends GrpcNames {
  /** `INTENT_SEQUENCER_URL`: base_url of the service, or `embedded` for the embedded sequencer (not in production). */
  readonly sequencerUrl?: string | undefined;
  /** `INTENT_SEQUENCER_GRPC_URL`: grpc_url of the service; used instead of the proxy when set. Needs `@grpc/grpc-js`. */
  readonly grpcUrl?: string | undefined;
  /** `INTENT_EMULATOR_PORT`: port of the embedded sequencer. Default 4747. */
  readonly emulatorPort?: number | undefined;
  /**
   * `INTENT_EMULATOR_STATE`: the file that intents of the embedded sequencer outlive the process in, or `memory`. Default:
   * `sequencer.jsonl` in the folder of the ledger where that is kept in one, else `memory`.
   */
  readonly emulatorState?: string | undefined;
  /**
   * Sent as the `version` of each envelope, such as `1.0` (interface section 9.2): up to 32 visible ASCII characters. Default:
   * empty.
   */
  readonly envelopeVersion?: string | undefined;
  /** How intents reach the service. Default `intents`. */
  readonly dialect?: 'intents' | 'messaging' | undefined;
  /**
   * Bound of one call to the service over all its tries, and of one to the store of the app's session, in milliseconds.
   * Default 8000.
   */
  readonly timeoutMs?: number | undefined;
  /** Bound of one try of a call that may be repeated, in milliseconds. Default: `timeoutMs`, at most 3000. */
  readonly tryTimeoutMs?: number | undefined;
  /** `INTENT_VERIFIER_SECRET`: one or more secrets, separated by commas. The first signs, all are published. */
  readonly verifierSecret?: string | undefined;
  /** `INTENT_VERIFIER_SECRET_FILE`: a file with the same. */
  readonly verifierSecretFile?: string | undefined;
  /** Signs instead of the first secret, for a key in a KMS or an HSM. */
  readonly signer?: Signer | undefined;
  /** `INTENT_DOMAIN`: the domain named in login intents. */
  readonly domain?: string | undefined;
  /** `INTENT_DESTINATION`: the account that receives payments where the terms name none, Base58. */
  readonly destination?: string | undefined;
  /** `INTENT_ORIGIN`: the site's own origin, such as `https://example.com`. */
  readonly origin?: string | undefined;
  /** `INTENT_SECRET`: seals cookies, at least 32 characters; several, separated by commas: the first seals. */
  readonly secret?: string | undefined;
  /** `false` switches logins off; then no verifier key is needed. Default true. */
  readonly login?: boolean | undefined;
  /** How long a begun login can be completed, in milliseconds. Default 120 000. */
  readonly loginTtlMs?: number | undefined;
  /** `true` asks everybody "Continue as X?" before the session begins, X being who the wallet says it is. Default false. */
  readonly confirm?: boolean | undefined;
  /** How long a login lasts that is kept in a cookie of ours, in milliseconds. Default 7 days. */
  readonly sessionTtlMs?: number | undefined;
  /** `true` registers this site's webhook for every intent, and takes the service's calls to it. Default false. */
  readonly webhook?: boolean | undefined;
  /**
   * `INTENT_SERVICE_KEY`: public keys that the service signs webhooks with, Base58, separated by commas. The embedded
   * sequencer's is known, so that nothing else counts with it.
   */
  readonly serviceKey?: string | undefined;
  /** `INTENT_WALLET_URL`: where a link to the wallet leads; the client secret follows as the fragment. */
  readonly walletUrl?: string | undefined;
  /** `INTENT_DATABASE_URL`: where the ledger is kept, a `postgres://` URL or a folder for one process. */
  readonly databaseUrl?: string | undefined;
  /** Takes a folder as the ledger in production too, which survives the death of the process and not a loss of power. */
  readonly allowEmbeddedLedger?: boolean | undefined;
  /** Whether the ledger's tables are made and changed at the start. Default true. */
  readonly migrate?: boolean | undefined;
  /** From the sequencer's word that a payment was submitted to `onPaid`, in milliseconds; then it is asked again. Default 0. */
  readonly settleDelayMs?: number | undefined;
  /** How long an intent is watched that nobody has paid, in milliseconds. Default 30 days. */
  readonly watchMs?: number | undefined;
  /** How long a settled payment is looked at, for the case that it is taken back, in milliseconds. Default 1 day. */
  readonly reversalWatchMs?: number | undefined;
  /**
   * How many intents this process looks at, at once, from 1 to 48. Default 24: with a service that answers in 50 ms these
   * are some 400 looks a second. Hooks are called six at once, whatever this is.
   */
  readonly looksAtOnce?: number | undefined;
  /** After so many failures of a hook a payment is a dead letter. Default 15, which takes some three hours. */
  readonly hookAttempts?: number | undefined;
  /** Bound of one call of a hook of payments, in milliseconds. Default 30 000. */
  readonly hookTimeoutMs?: number | undefined;
  /** A payment that came so long after its intent was created is `late`, in milliseconds. Default 15 minutes. */
  readonly lateAfterMs?: number | undefined;
  /** Origins besides the page's own that the button may send people to after success and cancel. Default: none. */
  readonly returnOrigins?: readonly string[] | undefined;
  /** Renames routes, or switches them off with `false`. Default: as in `Routes`. */
  readonly routes?: Partial<Routes> | undefined;
  /** How many streams of events may be open at once; more are refused with 429, or with 503 when the process is full. */
  readonly connections?: Partial<ConnectionLimits> | undefined;
  /** How often an address may come; `false` limits nothing. */
  readonly rateLimits?: Partial<RateLimits> | false | undefined;
  /** Another way to the service than its HTTP proxy; then no `sequencerUrl` is needed. */
  readonly transport?: Transport | undefined;
}

/** The environment as far as it is read. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What logins need. */
export interface LoginConfig {
  readonly keyRing: VerifierKeyRing;
  readonly domain: string;
  readonly ttlMs: number;
  readonly sessionTtlMs: number;
  /** Whether the user is asked before the session begins. */
  readonly confirm: boolean;
  /** Keys of 32 bytes that seal cookies: the first seals, all open. */
  readonly cookieKeys: readonly Uint8Array[];
}

/** What webhooks need. */
export interface WebhookConfig {
  /** Base58 of 32 bytes each; undefined for the embedded sequencer's, which is known once that has started. */
  readonly serviceKeys: readonly string[] | undefined;
}

export interface Config {
  readonly production: boolean;
  /** Whether the site is known to be served over https, so that its cookies are `Secure` whatever a request looks like. */
  readonly isHttps: boolean;
  readonly sequencer: {
    /** base_url, or `embedded`. */
    readonly url: string;
    /** Used instead, where it is set. */
    readonly grpcUrl: string | undefined;
    readonly emulatorPort: number;
    /** The state file of the embedded sequencer; undefined where it forgets everything with its process. */
    readonly emulatorState: string | undefined;
    readonly dialect: 'intents' | 'messaging';
    readonly timeoutMs: number;
    readonly tryTimeoutMs: number | undefined;
  };
  readonly login: LoginConfig | undefined;
  readonly destination: string | undefined;
  readonly origin: string | undefined;
  /** Undefined where the site takes no webhooks. */
  readonly webhook: WebhookConfig | undefined;
  /** Undefined also with the embedded sequencer, which knows its own. */
  readonly walletUrl: string | undefined;
  readonly returnOrigins: readonly string[];
  readonly routes: Routes;
  readonly connections: ConnectionLimits;
  /** Undefined where no ledger is kept. */
  readonly ledger: LedgerSettings | undefined;
  /** Undefined where nothing is limited. */
  readonly rateLimits: RateLimits | undefined;
  /** What the person who starts this should be told once. */
  readonly notices: readonly string[];
  /** The same, where it is most likely a mistake. */
  readonly warnings: readonly string[];
}

/** The environment of this process, for the command line: it looks at what a site would start with, and starts none. */
export function processEnvironment(): Environment {
  return process.env;
}

/** How to get a ledger here, for whoever needs one and has none. */
export function howToGetLedger(env: Environment = process.env): string {
  return ledgerMend(env);
}

/** Whether the site itself names the account that receives payments. */
export function namesDestination({ destination }: ConfigOptions, env: Environment = process.env): boolean {
  return (destination ?? env.INTENT_DESTINATION ?? '') !== '';
}

/** Whether a database is named, whatever else is wrong. */
export function namesDatabase({ databaseUrl }: ConfigOptions, env: Environment = process.env): boolean {
  return (databaseUrl ?? env.INTENT_DATABASE_URL ?? '') !== '';
}

/**
 * Reads options and environment. This is the only reader of `process.env`.
 * @throws {ConfigError} with everything that is missing or wrong at once, each with the line that mends it
 */
export function parseConfig(options: ConfigOptions = {}, env: Environment = process.env): Config {
  const report = new Report();
  const production = env.NODE_ENV === 'production';
  const ledger = readLedger(options, env, production, report);
  const sequencer = readSequencer(options, env, production, ledger, report);
  const embedded = sequencer.url === 'embedded';
  const config = {
    production,
    sequencer,
    login: options.login === false ? undefined : readLogin(options, env, embedded, report),
    destination: readDestination(options, env, embedded, report),
    origin: readOrigin(options.origin ?? env.INTENT_ORIGIN, production, report),
    webhook: readWebhook(options, env, embedded && !options.transport, report),
    walletUrl: readWalletUrl(options.walletUrl ?? env.INTENT_WALLET_URL, production, report),
    returnOrigins: readReturnOrigins(options.returnOrigins, production, report),
    routes: readRoutes(options.routes, report),
    connections: readConnectionLimits(options.connections, report),
    ledger,
    rateLimits: readRateLimits(options.rateLimits, report),
    notices: report.notices,
    warnings: [...misspeltVariables(env).map(slipWarning), ...modeWarnings(env)],
  };
  if (!config.walletUrl && !embedded && config.routes.elements !== false) config.warnings.push(noWalletUrl);
  Object.freeze(report.notices);
  Object.freeze(config.warnings);
  if (report.problems.length > 0) throw new ConfigError(report.problems.map((one) => withSlip(one, env)));
  return Object.freeze({ ...config, isHttps: production || !!config.origin?.startsWith('https://') });
}

const noWalletUrl =
  'INTENT_WALLET_URL is not set. The button shows a code to scan and no link, so no visitor can pay or log in on the phone ' +
  'that shows it. Set it to the page that opens the wallet.';

const slipWarning = ({ name, meant }: MisspeltVariable): string =>
  `${name} is set, and read by nobody. Did you mean ${meant}?`;

/** What is missing may be there under nearly its name. */
function withSlip(problem: ConfigProblem, env: Environment): ConfigProblem {
  return { ...problem, problem: problem.problem + slipNote(problem.setting, env) };
}

/** What to say behind a sentence that a variable is not set: nothing, or which other is that may be meant for it. */
export function slipNote(variable: string, env: Environment = process.env): string {
  const slip = misspeltVariables(env).find(({ meant }) => meant === variable);
  return slip ? ` ${slip.name} is set: is that a slip?` : '';
}

/**
 * Reads from the environment alone where the ledger is, for who looks after it and is no site.
 * @throws {ConfigError} with what is missing or wrong
 */
export function parseLedgerSettings(env: Environment = process.env): LedgerSettings {
  const report = new Report();
  const settings = readLedger({}, env, false, report);
  if (settings) return settings;
  if (!env.INTENT_DATABASE_URL) {
    const mend = `Set it as it is set for the site: ${ledgerMend(env)}`;
    const slip = slipNote('INTENT_DATABASE_URL', env);
    report.problem('INTENT_DATABASE_URL', `It names the ledger, and is not set.${slip}`, mend);
  }
  throw new ConfigError(report.problems);
}

/**
 * Reads from the environment alone the verifier keys of a site.
 * @throws {ConfigError} with what is missing or wrong
 */
export function parseLoginKeys(env: Environment = process.env): VerifierKeyRing {
  const report = new Report();
  const keyRing = readKeyRing({}, env, false, report);
  if (keyRing) return keyRing;
  throw new ConfigError(report.problems);
}
