import type { Store } from 'express-rate-limit';
import type { Signer } from '../keys/verifier-key.js';
import type { GrpcNames } from '../sequencer/grpc/grpc-names.js';
import type { Transport } from '../sequencer/transport.js';
import type { Report } from './report.js';

/** Paths of the routes. `false` disables a route. */
export interface Routes {
  /** Default `/intent`. */
  readonly intent: string | false;
  /** Default `/status`, for `/status/:id`. */
  readonly status: string | false;
  /** Default `/intent`, for `/intent/:id/events`. */
  readonly events: string | false;
  /** Default `/intent/v1`, for `/intent/v1/elements.js` and the other files of the button (interface section 9.3). */
  readonly elements: string | false;
  /** Default `/intent/webhook`. */
  readonly webhook: string | false;
  /** Default `/session`. */
  readonly session: string | false;
  /** Default `/.well-known/service-payments.json`, where wallets look for it (interface section 4.6). */
  readonly keyFile: string | false;
  /** Default `/intent/v1/openapi.json`: the OpenAPI 3.1 description of the routes of this site. */
  readonly openapi: string | false;
  /** Default false. A health check for load balancers, often `/healthz`. */
  readonly health: string | false;
}

/** How logins work. */
export interface LoginOptions {
  /**
   * How long after its creation an intent (a login, or a payment with `login: true`) can start a session. After that a payment
   * logs no one in. In milliseconds, default 120 000.
   */
  readonly ttlMs?: number | undefined;
  /** Asks every user "Continue as X?" before the session begins. X is the shortened user id. Default false. */
  readonly confirm?: boolean | undefined;
  /**
   * Properties of `req.session` that a login copies into the new session, such as `['basket']`. All other properties are
   * discarded. If a different wallet was logged in, the named properties are discarded as well. The old session may come from
   * an attacker: name only data that is harmless if an attacker chose it, never rights or identities. See `docs/accounts.md`.
   * Default none.
   */
  readonly keepSession?: readonly string[] | undefined;
  /** How long a session in the router's own cookie lasts, in milliseconds. Default 7 days. */
  readonly sessionTtlMs?: number | undefined;
}

/** The simulator, which `sequencerUrl: 'simulator'` starts. */
export interface SimulatorOptions {
  /** `INTENT_SIMULATOR_PORT`: port on 127.0.0.1, 0 for any free port. Default 4747. */
  readonly port?: number | undefined;
  /**
   * `INTENT_SIMULATOR_STATE`: file that keeps intents across restarts, or `memory`. Default: `simulator.jsonl` in the folder of
   * the embedded ledger, or `memory` without one.
   */
  readonly stateFile?: string | undefined;
}

/** Limits of hook calls. */
export interface HookLimits {
  /**
   * After this many failures of `onPaid` or `onReversed`, a payment becomes a dead letter. Default 15, which takes about three
   * hours. A failure of `verifyPayment` is not counted: it is retried until `watch.unpaidMs` has passed. If the process ends
   * during a call, or loses the database and cannot record the failure, the call is not counted, and the next one runs alone.
   * If it is interrupted too, it is counted. A first call whose transaction loses the database is not counted either.
   */
  readonly maxAttempts?: number | undefined;
  /**
   * Timeout of one call to `onPaid`, `onReversed`, `verifyPayment` or `onDeadLetter`, in milliseconds. With a ledger also of
   * `onLogin` and `onSession`. With a ledger in a folder, `tx` also has a limit of 3000 ms. Default 30 000.
   */
  readonly timeoutMs?: number | undefined;
}

/** How long the ledger polls payments. */
export interface WatchOptions {
  /**
   * An unpaid payment expires after this many milliseconds. It is then polled once a day for another `unpaidMs`. Default 30 days, at
   * most 36,500 days.
   */
  readonly unpaidMs?: number | undefined;
  /** How long a settled payment is polled for reversals, in milliseconds. 0 disables these polls. Default 1 day. */
  readonly settledMs?: number | undefined;
}

/** Limits of open event streams. */
export interface ConnectionLimits {
  /** For each browser, by its cookie. Default 3. */
  readonly perBrowser: number;
  /** For each IPv4 address or IPv6 /56 in `req.ip`, which depends on `trust proxy`. Eight times as many for a /48. Default 20. */
  readonly perAddress: number;
  /** For each process. Default 5000. */
  readonly perProcess: number;
}

/**
 * How many requests an address may send within a window. Further requests get 429. The limit applies to each
 * IPv4 address and each IPv6 /56. Each IPv6 /48 has eight times the limit. The address is `req.ip`, which depends on `trust
 * proxy`.
 */
export interface RateLimits {
  /** `POST /intent`. Default 120. */
  readonly intent: number;
  /** `POST /session` and `DELETE /session`. Default 120. */
  readonly session: number;
  /** `GET /status/:id`, new event streams, and requests whose unsettled payment `requirePayment` checks. Default 3000. */
  readonly status: number;
  /** Invalid webhook calls. Calls signed by the service are not counted. Default 600. */
  readonly webhook: number;
  /** Length of the window, in milliseconds. Default 60 000. */
  readonly windowMs: number;
  /** A store of express-rate-limit that all processes share. Without it, and while it fails, each process counts separately. */
  readonly store: Store | undefined;
}

/** The options of the configuration. An option takes precedence over the environment variable that its comment names. */
export interface ConfigOptions extends GrpcNames {
  /** `INTENT_SEQUENCER_URL`: URL of the sequencer (`base_url`), or `simulator` for the simulator (not in production). */
  readonly sequencerUrl?: string | undefined;
  /** `INTENT_SEQUENCER_GRPC_URL`: its gRPC URL (`grpc_url`). Calls then use gRPC instead of HTTP. Needs `@grpc/grpc-js`. */
  readonly grpcUrl?: string | undefined;
  /** Settings of the simulator. */
  readonly simulator?: SimulatorOptions | undefined;
  /**
   * Sent as the `version` of each envelope, such as `1.0` (interface section 9.2): up to 32 visible ASCII characters. Default:
   * empty.
   */
  readonly envelopeVersion?: string | undefined;
  /** The operation that creates intents. `intents` (default): `Intents.createIntent`; `messaging`: `Messaging.sendMessage`. */
  readonly dialect?: 'intents' | 'messaging' | undefined;
  /** Timeout of a call, with all attempts, to the sequencer or the app's session store, in milliseconds. Default 8000. */
  readonly timeoutMs?: number | undefined;
  /** Timeout of one attempt of a call that can be retried, in milliseconds. Default: `timeoutMs`, at most 3000. */
  readonly attemptTimeoutMs?: number | undefined;
  /**
   * `INTENT_VERIFIER_SECRET`: the secrets of the verifier keys, which sign logins, separated by commas, in the forms that
   * `createSigner` accepts. The first secret signs. The key file lists the public key of each. `INTENT_VERIFIER_SECRET_FILE` can name a
   * file with the same content instead. Both together are an error.
   */
  readonly verifierSecret?: string | undefined;
  /** Signs instead of the first secret: for a key in a KMS or an HSM. Without `verifierSecret`, `secret` is required. */
  readonly signer?: Signer | undefined;
  /** `INTENT_DOMAIN`: the domain named in login intents. */
  readonly domain?: string | undefined;
  /** `INTENT_DESTINATION`: the default account that receives payments, Base58. */
  readonly destination?: string | undefined;
  /** `INTENT_ORIGIN`: the site's own origin, such as `https://example.com`. */
  readonly origin?: string | undefined;
  /**
   * `INTENT_SECRET`: secrets of at least 32 characters, separated by commas, that encrypt cookies and the client secrets that
   * `createPayment` stores. The first encrypts; all of them decrypt. Default: derived from `verifierSecret`.
   */
  readonly secret?: string | undefined;
  /** `false` disables logins; then no verifier key is needed. */
  readonly login?: boolean | LoginOptions | undefined;
  /** `true` registers this site's webhook for every intent and accepts the service's calls to it. Default false. */
  readonly webhook?: boolean | undefined;
  /**
   * `INTENT_WEBHOOK_PUBLIC_KEY`: public keys that verify the webhooks of the sequencer, Base58, separated by commas.
   * Ignored with the simulator, whose key is known.
   */
  readonly webhookPublicKey?: string | undefined;
  /** `INTENT_WALLET_URL`: the page that opens the wallet. The client secret is appended as the fragment. */
  readonly walletUrl?: string | undefined;
  /** `INTENT_DATABASE_URL`: enables the ledger. A `postgres://` URL, or a folder for one process. */
  readonly databaseUrl?: string | undefined;
  /** Allows a folder as the ledger in production. It survives a crash of the process, but not a power failure. */
  readonly allowEmbeddedLedger?: boolean | undefined;
  /** Whether the ledger's tables are created and migrated at startup. Default true. */
  readonly migrate?: boolean | undefined;
  /**
   * Delay from the submission of a payment to `onPaid`, in milliseconds. At its end the status is polled again. Default 0, at most
   * 36,500 days.
   */
  readonly settleDelayMs?: number | undefined;
  /** How long the ledger polls payments. Does not affect event streams or `client.watch`. */
  readonly watch?: WatchOptions | undefined;
  /**
   * Maximum number of concurrent polls in this process, from 1 to 48. Default 24: about 400 polls a second with a service that
   * answers in 50 ms. At most six calls to `onPaid` and `onReversed` run concurrently, and one more for payments whose hook has
   * timed out twice, regardless of this option.
   */
  readonly settlementConcurrency?: number | undefined;
  /** Limits of hook calls. The hooks themselves are options of their own, such as `onPaid`. */
  readonly hookLimits?: HookLimits | undefined;
  /** Other origins to which the button may navigate after success and cancel. Default: none. */
  readonly returnOrigins?: readonly string[] | undefined;
  /** Renames routes, or disables them with `false`. Default: as in `Routes`. */
  readonly routes?: Partial<Routes> | undefined;
  /** Limits of open event streams. Further streams get 429, or 503 if the process is full. */
  readonly connectionLimits?: Partial<ConnectionLimits> | undefined;
  /** Rate limits by address. `false` disables them. */
  readonly rateLimits?: Partial<RateLimits> | false | undefined;
  /** A custom transport to the sequencer. Overrides `sequencerUrl` and `grpcUrl`; `simulator` then starts no sequencer. */
  readonly transport?: Transport | undefined;
}

/** The environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The sources of the configuration, and the report of its problems. */
export interface ConfigSource {
  readonly options: ConfigOptions;
  readonly env: Environment;
  readonly production: boolean;
  readonly report: Report;
  /** If true, no development key is written. Default false. */
  readonly isReadOnly?: boolean;
}
