import { hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigError, type ConfigProblem, IntentError } from './errors.js';
import { parseAccount, parseBase58 } from './keys/base58.js';
import { createKeyRing, type VerifierKeyRing } from './keys/key-ring.js';
import { parseVerifierDomain } from './keys/verifier-domain.js';
import { generateKey, type Signer } from './keys/verifier-key.js';
import type { Transport } from './sequencer/transport.js';

/** Paths of the routes; `false` switches one off. */
export interface Routes {
  /** Default `/intent`. */
  readonly intent: string | false;
  /** Default `/status`; the id follows it. */
  readonly status: string | false;
  /** Default `/session`. */
  readonly session: string | false;
  /** Default `/.well-known/service-payments.json`, which is where wallets look (interface section 4.6). */
  readonly keyFile: string | false;
}

/** What can be set by an option or, where one is named, by an environment variable; the option wins. */
export interface ConfigOptions {
  /** `INTENT_SEQUENCER_URL`: base_url of the service, or `embedded` for the embedded sequencer (not in production). */
  readonly sequencerUrl?: string | undefined;
  /** `INTENT_EMULATOR_PORT`: port of the embedded sequencer. Default 4747. */
  readonly emulatorPort?: number | undefined;
  /** How intents reach the service. Default `intents`. */
  readonly dialect?: 'intents' | 'messaging' | undefined;
  /** Bound of one call to the service, in milliseconds. Default 8000. */
  readonly timeoutMs?: number | undefined;
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
  /** How long a login lasts that is kept in a cookie of ours, in milliseconds. Default 7 days. */
  readonly sessionTtlMs?: number | undefined;
  readonly routes?: Partial<Routes> | undefined;
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
  /** Keys of 32 bytes that seal cookies: the first seals, all open. */
  readonly cookieKeys: readonly Uint8Array[];
}

export interface Config {
  readonly production: boolean;
  readonly sequencer: {
    /** base_url, or `embedded`. */
    readonly url: string;
    readonly emulatorPort: number;
    readonly dialect: 'intents' | 'messaging';
    readonly timeoutMs: number;
  };
  readonly login: LoginConfig | undefined;
  readonly destination: string | undefined;
  readonly origin: string | undefined;
  readonly routes: Routes;
  /** What the person who starts this should be told once. */
  readonly notices: readonly string[];
}

const defaultRoutes: Routes = {
  intent: '/intent',
  status: '/status',
  session: '/session',
  keyFile: '/.well-known/service-payments.json',
};

/**
 * Reads options and environment. This is the only reader of `process.env`.
 * @throws {ConfigError} with everything that is missing or wrong at once, each with the line that mends it
 */
export function parseConfig(options: ConfigOptions = {}, env: Environment = process.env): Config {
  const report = new Report();
  const production = env.NODE_ENV === 'production';
  const sequencer = readSequencer(options, env, production, report);
  const embedded = sequencer.url === 'embedded';
  const config = {
    production,
    sequencer,
    login: options.login === false ? undefined : readLogin(options, env, embedded, report),
    destination: readDestination(options, env, embedded, report),
    origin: readOrigin(options.origin ?? env.INTENT_ORIGIN, production, report),
    routes: readRoutes(options.routes, report),
    notices: report.notices,
  };
  noteWhatIsNotRead(env, report);
  Object.freeze(report.notices);
  if (report.problems.length > 0) throw new ConfigError(report.problems);
  return Object.freeze(config);
}

/** Collects what is wrong, so that it is told at once. */
class Report {
  readonly problems: ConfigProblem[] = [];
  readonly notices: string[] = [];

  problem(setting: string, problem: string, mend: string): undefined {
    this.problems.push({ setting, problem, mend });
  }

  /** Runs a parser; what it throws becomes a problem of this setting. */
  read<Value>(setting: string, mend: string, parse: () => Value): Value | undefined {
    try {
      return parse();
    } catch (error) {
      return this.problem(setting, error instanceof IntentError ? error.message : String(error), mend);
    }
  }
}

function readSequencer(
  options: ConfigOptions,
  env: Environment,
  production: boolean,
  report: Report,
): Config['sequencer'] {
  const url = options.sequencerUrl ?? env.INTENT_SEQUENCER_URL ?? '';
  const problem = url === '' && options.transport ? undefined : problemOfUrl(url, production);
  if (problem) report.problem('INTENT_SEQUENCER_URL', ...problem);
  // A variable that is set to nothing is not set; as a number it would be the port 0.
  const emulatorPort = Number(options.emulatorPort ?? (env.INTENT_EMULATOR_PORT || 4747));
  if (!Number.isInteger(emulatorPort) || emulatorPort < 0 || emulatorPort > 65_535) {
    report.problem('INTENT_EMULATOR_PORT', 'It is not a port.', 'INTENT_EMULATOR_PORT=4747');
  }
  const dialect = options.dialect ?? 'intents';
  if (dialect !== 'intents' && dialect !== 'messaging') {
    report.problem('dialect', 'It is unknown.', "dialect: 'intents' (default) or 'messaging'");
  }
  const timeoutMs = readDuration('timeoutMs', options.timeoutMs, 8_000, report, maxTimerMs);
  return Object.freeze({ url, emulatorPort, dialect, timeoutMs });
}

function problemOfUrl(url: string, production: boolean): [problem: string, mend: string] | undefined {
  const example = 'INTENT_SEQUENCER_URL=https://<base_url of your payment service>';
  if (url === '') {
    const orEmbedded = production
      ? ''
      : ', or INTENT_SEQUENCER_URL=embedded to try everything on this machine, without any key';
    return ['It is not set.', `${example}${orEmbedded}`];
  }
  if (url === 'embedded') {
    return production
      ? [
          'The embedded sequencer moves no money and lets anyone log in; it is refused when NODE_ENV=production.',
          example,
        ]
      : undefined;
  }
  const { protocol, username, search, hash } = URL.canParse(url) ? new URL(url) : new URL('none:');
  if (protocol !== 'https:' && protocol !== 'http:') return ['It is not an http(s) URL.', example];
  if (username || search || hash) return ['It has a user, a query or a fragment, which would not be sent.', example];
  return production && protocol === 'http:' ? ['It must be https when NODE_ENV=production.', example] : undefined;
}

function readLogin(
  options: ConfigOptions,
  env: Environment,
  embedded: boolean,
  report: Report,
): LoginConfig | undefined {
  const keyRing = readKeyRing(options, env, embedded, report);
  const domain = readDomain(options.domain ?? env.INTENT_DOMAIN, embedded, report);
  const secret = options.secret ?? (env.INTENT_SECRET || undefined);
  const cookieKeys = readCookieKeys(secret, keyRing, domain, report);
  const ttlMs = readDuration('loginTtlMs', options.loginTtlMs, 120_000, report);
  const sessionTtlMs = readDuration('sessionTtlMs', options.sessionTtlMs, 7 * 24 * 3_600_000, report);
  return keyRing && domain ? Object.freeze({ keyRing, domain, ttlMs, sessionTtlMs, cookieKeys }) : undefined;
}

const keygen = 'Run `npx express-intents keygen` and set INTENT_VERIFIER_SECRET to what it prints.';

function readKeyRing(
  options: ConfigOptions,
  env: Environment,
  embedded: boolean,
  report: Report,
): VerifierKeyRing | undefined {
  const file = options.verifierSecretFile ?? env.INTENT_VERIFIER_SECRET_FILE;
  const inline = options.verifierSecret ?? env.INTENT_VERIFIER_SECRET;
  if (!isSigner(options.signer, report)) return undefined;
  if (inline && file) {
    const problem = 'INTENT_VERIFIER_SECRET and INTENT_VERIFIER_SECRET_FILE are both set.';
    return report.problem('INTENT_VERIFIER_SECRET', problem, 'Keep one of the two.');
  }
  if (file) {
    const mend = 'Let it name a readable file that holds one or more secrets, separated by commas or lines.';
    return report.read('INTENT_VERIFIER_SECRET_FILE', mend, () => createKeyRing(readSecretFile(file), options.signer));
  }
  if (inline || options.signer) {
    return report.read('INTENT_VERIFIER_SECRET', keygen, () => createKeyRing(inline ?? '', options.signer));
  }
  if (!embedded) {
    return report.problem(
      'INTENT_VERIFIER_SECRET',
      'Logins need a verifier key, and there is none.',
      `${keygen} For payments alone: intentRouter({ login: false }).`,
    );
  }
  report.notices.push(
    'INTENT_VERIFIER_SECRET is not set: using a key that lasts until this process ends, so everyone is then logged out.',
  );
  return createKeyRing(generateKey().secret);
}

function isSigner(signer: Signer | undefined, report: Report): boolean {
  if (!signer) return true;
  const mend = 'signer: { publicKey: <Base58 of 32 bytes>, sign: (bytes) => <Ed25519 signature of 64 bytes> }';
  const isKey = report.read('signer', mend, () => parseBase58(signer.publicKey, 32, 'invalid_key')) !== undefined;
  if (isKey && typeof signer.sign !== 'function') report.problem('signer', 'It has no function sign.', mend);
  return isKey && typeof signer.sign === 'function';
}

function readSecretFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new IntentError('invalid_key', `The file cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

/** RFC 2606 keeps `.example` free for uses like this. */
const embeddedDomain = 'shop.example';

function readDomain(domain: string | undefined, embedded: boolean, report: Report): string | undefined {
  const mend = 'INTENT_DOMAIN=<the name of your site as you registered it, such as example.com; not localhost>';
  if (domain) return report.read('INTENT_DOMAIN', mend, () => parseVerifierDomain(domain));
  if (!embedded) return report.problem('INTENT_DOMAIN', 'Logins name your domain, and it is not set.', mend);
  report.notices.push(`INTENT_DOMAIN is not set: logins name ${embeddedDomain}.`);
  return embeddedDomain;
}

function readCookieKeys(
  secret: string | undefined,
  keyRing: VerifierKeyRing | undefined,
  domain: string | undefined,
  report: Report,
): readonly Uint8Array[] {
  // With the domain in it, a cookie of one site is worth nothing at another that shares the secret.
  const purpose = `express-intents cookies v1 for ${domain}`;
  const mend = 'INTENT_SECRET=<at least 32 random characters>';
  const secrets = secret?.split(',').map((part) => part.trim()) ?? [];
  if (secrets.some((part) => part.length < 32)) {
    report.problem('INTENT_SECRET', 'It is shorter than 32 characters.', mend);
    return [];
  }
  if (secrets.length > 0) {
    return secrets.map((part) => new Uint8Array(hkdfSync('sha256', part, '', purpose, 32)));
  }
  const derived = keyRing?.deriveKeys(purpose) ?? [];
  if (keyRing && derived.length === 0) {
    report.problem(
      'INTENT_SECRET',
      'With a signer and no verifier secret there is nothing to seal cookies with.',
      mend,
    );
  }
  return derived;
}

function readDestination(
  options: ConfigOptions,
  env: Environment,
  embedded: boolean,
  report: Report,
): string | undefined {
  const destination = options.destination ?? env.INTENT_DESTINATION;
  if (destination) {
    const mend = 'INTENT_DESTINATION=<the Base58 address that receives payments>';
    report.read('INTENT_DESTINATION', mend, () => parseAccount(destination));
    return destination;
  }
  return embedded ? generateKey().publicKey : undefined;
}

function readOrigin(origin: string | undefined, production: boolean, report: Report): string | undefined {
  if (!origin) return undefined;
  const mend = `INTENT_ORIGIN=${production ? 'https://example.com' : 'http://localhost:3000'} (no path, no slash at the end)`;
  if (!/^https?:/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin) {
    return report.problem('INTENT_ORIGIN', 'It is not an origin.', mend);
  }
  if (production && !origin.startsWith('https://')) {
    return report.problem('INTENT_ORIGIN', 'It must be https when NODE_ENV=production.', mend);
  }
  return origin;
}

function readRoutes(routes: Partial<Routes> = {}, report: Report): Routes {
  for (const name of Object.keys(routes)) {
    if (Object.hasOwn(defaultRoutes, name)) continue;
    report.problem('routes', `There is no route ${name}.`, `Known: ${Object.keys(defaultRoutes).join(', ')}.`);
  }
  const all = { ...defaultRoutes, ...routes };
  const paths = Object.values(all).filter((path) => path !== false);
  for (const path of paths) {
    if (typeof path !== 'string' || !/^(?:\/[\w.~-]+)+$/.test(path)) {
      report.problem(
        'routes',
        `${JSON.stringify(path)} is not a path.`,
        "Paths look like '/pay' and have no parameters.",
      );
    }
  }
  if (new Set(paths).size < paths.length) {
    report.problem('routes', 'Two routes have the same path.', 'Give each its own, or switch one off with false.');
  }
  return Object.freeze(all);
}

/** A timer that is set to more goes off at once. */
const maxTimerMs = 2 ** 31 - 1;

function readDuration(
  setting: string,
  value: number | undefined,
  byDefault: number,
  report: Report,
  max = Number.MAX_SAFE_INTEGER,
): number {
  const duration = value ?? byDefault;
  if (Number.isInteger(duration) && duration > 0 && duration <= max) return duration;
  const problem = `It is not a whole number of milliseconds from 1 to ${max}.`;
  report.problem(setting, problem, `${setting}: ${byDefault}`);
  return byDefault;
}

function noteWhatIsNotRead(env: Environment, report: Report): void {
  if (env.INTENT_SEQUENCER_GRPC_URL) {
    report.notices.push(
      'INTENT_SEQUENCER_GRPC_URL is set, but this version speaks to the service over its proxy only.',
    );
  }
  if (env.INTENT_DATABASE_URL) {
    report.notices.push('INTENT_DATABASE_URL is set, but this version keeps no ledger.');
  }
}
