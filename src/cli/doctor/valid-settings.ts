import { parseConfig, parseLedgerSettings, parseLoginKeys } from '../../config/config.js';
import type { ConfigOptions, Environment } from '../../config/config-options.js';
import { ConfigError, type ConfigProblem } from '../../errors.js';
import type { LedgerSettings } from '../../ledger/ledger-settings.js';
import { isLoopback } from '../../net/loopback.js';

/** Those settings that are there and right, so that they can be looked at whatever else is wrong. */
export interface ValidSettings {
  /** base_url, or `embedded`. */
  readonly sequencerUrl: string | undefined;
  readonly grpcUrl: string | undefined;
  /** Where logins are switched off there is neither this nor a key. */
  readonly domain: string | undefined;
  /** The verifier's, Base58, the one that signs first. */
  readonly publicKeys: readonly string[] | undefined;
  readonly origin: string | undefined;
  readonly database: LedgerSettings['database'] | undefined;
  readonly walletUrl: string | undefined;
  readonly takesWebhooks: boolean;
}

/** What is not set by the environment but by the code of the site. */
export type SiteOptions = Pick<ConfigOptions, 'login' | 'webhook' | 'allowEmbeddedLedger'>;

export interface ReadSettings {
  readonly settings: ValidSettings;
  readonly problems: readonly ConfigProblem[];
  /** What the site would log at its start. */
  readonly notices: readonly string[];
}

/** Reads the settings as a site does at its start, and keeps what holds. */
export function readSettings(env: Environment, options: SiteOptions): ReadSettings {
  const { problems, notices } = startWith(env, options);
  const isValid = (name: string): boolean => !!env[name] && !problems.some(({ setting }) => setting === name);
  const validValue = (name: string): string | undefined => (isValid(name) ? env[name] : undefined);
  const hasLogin = options.login !== false;
  const hasKeys = isValid('INTENT_VERIFIER_SECRET') || isValid('INTENT_VERIFIER_SECRET_FILE');
  const isBroken = problems.some(({ setting }) => setting.startsWith('INTENT_VERIFIER_SECRET'));
  const settings = {
    sequencerUrl: validValue('INTENT_SEQUENCER_URL'),
    grpcUrl: validValue('INTENT_SEQUENCER_GRPC_URL'),
    domain: hasLogin ? validValue('INTENT_DOMAIN') : undefined,
    publicKeys: hasLogin && hasKeys && !isBroken ? parseLoginKeys(env).publicKeys : undefined,
    origin: validValue('INTENT_ORIGIN'),
    database: readDatabase(env),
    walletUrl: validValue('INTENT_WALLET_URL'),
    takesWebhooks: options.webhook === true,
  };
  return { settings, problems, notices };
}

function startWith(env: Environment, options: SiteOptions): Pick<ReadSettings, 'problems' | 'notices'> {
  try {
    return { problems: [], notices: parseConfig(options, env).notices };
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems, notices: [] };
    throw error;
  }
}

/** Also one that the site refuses to start with is looked at, such as a folder in production. */
function readDatabase(env: Environment): LedgerSettings['database'] | undefined {
  try {
    return parseLedgerSettings(env).database;
  } catch {
    return undefined;
  }
}

export const isLocal = (host: string): boolean => isLoopback(host) || host.endsWith('.localhost');

/** Names that nobody can register (RFC 2606, RFC 6761). */
const reserved = /\.(?:example|test|invalid|localhost)$/;

/** Whether the sequencer reads the key file on this machine, and not where the domain says. */
export function isDevelopment({ sequencerUrl, domain }: ValidSettings): boolean {
  if (sequencerUrl === undefined) return false;
  if (sequencerUrl === 'embedded') return true;
  return isLocal(new URL(sequencerUrl).hostname) && domain !== undefined && reserved.test(domain);
}
