import type { Store } from 'express-rate-limit';
import type { TextName } from '../browser/texts/text-names.js';
import type { Signer } from '../keys/verifier-key.js';
import type { GrpcNames } from '../sequencer/grpc/grpc-names.js';
import type { Transport } from '../sequencer/transport.js';
import type { Report } from './report.js';
import type { Environment } from './variables.js';

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

/** Logins, and the keys that sign them. `INTENT_DOMAIN` and a verifier key are required, except with the simulator. */
export interface LoginOptions {
  /** `INTENT_DOMAIN`: the registrable domain of the site, such as `example.com`, which login intents name. */
  readonly domain?: string | undefined;
  /**
   * `INTENT_VERIFIER_SECRET`: the secrets of the verifier keys, which sign logins, separated by commas, in the forms that
   * `createSigner` accepts. The first secret signs. The key file lists the public key of each. `INTENT_VERIFIER_SECRET_FILE` can name a
   * file with the same content instead. Both together are an error.
   */
  readonly verifierSecret?: string | undefined;
  /** Signs instead of the first secret: for a key in a KMS or an HSM. Without `verifierSecret`, `secret` is required. */
  readonly signer?: Signer | undefined;
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

/** How the site reaches the sequencer. */
export interface SequencerOptions extends GrpcNames {
  /** `INTENT_SEQUENCER_URL`: URL of the sequencer (`base_url`), or `simulator` (not in production). */
  readonly url?: string | undefined;
  /** `INTENT_SEQUENCER_GRPC_URL`: its gRPC URL (`grpc_url`). Calls then use gRPC instead of HTTP. Needs `@grpc/grpc-js`. */
  readonly grpcUrl?: string | undefined;
  /** The operation that creates intents. `intents` (default): `Intents.createIntent`; `messaging`: `Messaging.sendMessage`. */
  readonly dialect?: 'intents' | 'messaging' | undefined;
  /**
   * Sent as the `version` of each envelope, such as `1.0` (interface section 9.2): up to 32 visible ASCII characters. Default:
   * empty.
   */
  readonly envelopeVersion?: string | undefined;
  /** Timeout of a call, with all attempts, to the sequencer or the app's session store, in milliseconds. Default 8000. */
  readonly timeoutMs?: number | undefined;
  /** A custom transport. Overrides `url` and `grpcUrl`; `simulator` as `url` then starts none. */
  readonly transport?: Transport | undefined;
}

/** The simulator, which `sequencer: { url: 'simulator' }` starts in the process of the site. */
export interface SimulatorOptions {
  /** `INTENT_SIMULATOR_PORT`: port on 127.0.0.1, 0 for any free port. Default 4747. */
  readonly port?: number | undefined;
  /**
   * `INTENT_SIMULATOR_STATE`: file that keeps intents across restarts, or `memory`. Default: `simulator.jsonl` in the folder of
   * the ledger, or `memory` without such a folder.
   */
  readonly stateFile?: string | undefined;
}

/** The record of all intents in a database, which the hooks of payments need. */
export interface LedgerOptions {
  /** `INTENT_DATABASE_URL`: a `postgres://` URL, or a folder for one process. */
  readonly url?: string | undefined;
  /** Allows a folder in production. It survives a crash of the process, but not a power failure. Default false. */
  readonly allowFolderInProduction?: boolean | undefined;
  /** Whether the tables are created and migrated at startup. Default true. */
  readonly migrate?: boolean | undefined;
  /**
   * Delay from the submission of a payment to `onPaid`, in milliseconds. At its end the status is polled again. Default 0, at most
   * 36,500 days.
   */
  readonly settleDelayMs?: number | undefined;
  /** How long payments are polled. Does not affect event streams or `client.watch`. */
  readonly watch?: WatchOptions | undefined;
  /** Limits of hook calls. */
  readonly hookLimits?: HookLimits | undefined;
}

/** Limits of hook calls. */
export interface HookLimits {
  /**
   * After this many failures of `onPaid` or `onReversed`, a payment becomes a dead letter. Default 15, which takes about three
   * hours. A failure of `verifyPayment` is not counted: it is retried until `ledger.watch.unpaidMs` has passed. If the process ends
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
   * An unpaid payment expires after this many milliseconds. It is then polled once a day for another `unpaidMs`. Default 30
   * days, at most 36,500 days.
   */
  readonly unpaidMs?: number | undefined;
  /** How long a settled payment is polled for reversals, in milliseconds. 0 disables these polls. Default 1 day. */
  readonly settledMs?: number | undefined;
}

/** Limits against overload by visitors. */
export interface LimitOptions {
  /** Requests by address. `false` disables these limits. */
  readonly requests?: Partial<RequestLimits> | false | undefined;
  /** Open event streams. Further streams get 429, or 503 if the process is full. */
  readonly streams?: Partial<StreamLimits> | undefined;
  /**
   * A store of express-rate-limit in which all processes count requests. Without it, and while it fails, each process counts
   * separately.
   */
  readonly store?: Store | undefined;
}

/**
 * How many requests an address may send in a minute. Further requests get 429. The limit applies to each IPv4 address and each
 * IPv6 /56. Each IPv6 /48 has eight times the limit. The address is `req.ip`, which depends on `trust proxy`.
 */
export interface RequestLimits {
  /** `POST /intent`. Default 120. */
  readonly intent: number;
  /** `POST /session` and `DELETE /session`. Default 120. */
  readonly session: number;
  /** `GET /status/:id`, new event streams, and requests whose unsettled payment `requirePayment` checks. Default 3000. */
  readonly status: number;
  /** Invalid webhook calls. Calls signed by the sequencer are not counted. Default 600. */
  readonly webhook: number;
}

/** Limits of open event streams. */
export interface StreamLimits {
  /** For each browser, by its cookie. Default 3. */
  readonly perBrowser: number;
  /** For each IPv4 address or IPv6 /56 in `req.ip`, which depends on `trust proxy`. Eight times as many for a /48. Default 20. */
  readonly perAddress: number;
  /** For each process. Default 5000. */
  readonly perProcess: number;
}

/** What the button on the pages of the site knows. */
export interface SiteButtonOptions {
  /**
   * `INTENT_WALLET_URL`: the page that opens the wallet. The client secret is appended as the fragment. Default: the wallet page of
   * the simulator, if that runs; otherwise no link.
   */
  readonly walletUrl?: string | undefined;
  /** Other origins to which the button may navigate after success and cancel. Default: none. */
  readonly returnOrigins?: readonly string[] | undefined;
  /**
   * The name of the site, for its visitors: one line of 1 to 60 characters. The dialog shows it above the host name of the page.
   * Default: only the host name.
   */
  readonly name?: string | undefined;
  /** The logo of the site, square: a path on this site, such as `/logo.svg`, or an https URL. Default: none. */
  readonly logo?: string | undefined;
  /** The color of the button and of the main action in the dialog, such as `#14d` or `#1144dd`. Default: a blue. */
  readonly accent?: string | undefined;
  /** A page for visitors without a wallet: a path on this site, or an http(s) URL. Default: no link. */
  readonly help?:
    | {
        readonly url: string;
        /** The text of the link. Default: "What is a wallet?" in the language of the visitor. */
        readonly label?: string | undefined;
      }
    | undefined;
  /**
   * The site's own texts by language, such as `{ en: { paid: 'Thank you!' } }`. They replace those of the button and the dialog. A
   * language that the button does not have is added; its missing texts are in English.
   */
  readonly texts?: Readonly<Record<string, Partial<Readonly<Record<TextName, string>>>>> | undefined;
}

/** The calls of the sequencer to the site. */
export interface WebhookOptions {
  /**
   * `INTENT_WEBHOOK_PUBLIC_KEY` (separated by commas): public keys that verify the calls, Base58. Ignored with the simulator, whose
   * key is known.
   */
  readonly publicKeys?: readonly string[] | undefined;
}

/** The settings of a site. An option takes precedence over the environment variable that its comment names. */
export interface ConfigOptions {
  /** `INTENT_ORIGIN`: the site's own origin, such as `https://example.com`. */
  readonly origin?: string | undefined;
  /**
   * `INTENT_SECRET`: secrets of at least 32 characters, separated by commas, that encrypt cookies and the client secrets that
   * `createPayment` stores. The first encrypts; all of them decrypt. Default: derived from `login.verifierSecret`.
   */
  readonly secret?: string | undefined;
  /** `INTENT_DESTINATION`: the default account that receives payments, Base58 or Base64. */
  readonly destination?: string | undefined;
  /** Renames routes, or disables them with `false`. Default: as in `Routes`. */
  readonly routes?: Partial<Routes> | undefined;
  /** How the site reaches the sequencer. */
  readonly sequencer?: SequencerOptions | undefined;
  /** The simulator that runs in the process of the site. */
  readonly simulator?: SimulatorOptions | undefined;
  /** Logins. `false` disables them; then no verifier key is needed. */
  readonly login?: boolean | LoginOptions | undefined;
  /** The record of all intents. `false`: none, even if `INTENT_DATABASE_URL` is set. */
  readonly ledger?: LedgerOptions | false | undefined;
  /** Limits against overload by visitors. */
  readonly limits?: LimitOptions | undefined;
  /** What the button knows. */
  readonly button?: SiteButtonOptions | undefined;
  /** `true`, or its settings: registers this site's webhook for every intent and accepts the calls to it. Default false. */
  readonly webhook?: boolean | WebhookOptions | undefined;
}

/** The sources of the configuration, and the report of its problems. */
export interface ConfigSource {
  readonly options: ConfigOptions;
  readonly env: Environment;
  readonly production: boolean;
  readonly report: Report;
  /** If true, no development key is written. Default false. */
  readonly isReadOnly?: boolean;
}
