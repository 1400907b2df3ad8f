import type { ConfigOptions, Environment } from '../../config.js';
import { parseConfig, parseLedgerSettings, parseLoginKeys } from '../../config.js';
import { ConfigError, type ConfigProblem } from '../../errors.js';
import type { LedgerSettings } from '../../ledger/ledger-settings.js';

/** Those settings that are there and right, so that they can be looked at whatever else is wrong. */
export interface SoundSettings {
  /** base_url, or `embedded`. */
  readonly sequencerUrl: string | undefined;
  readonly grpcUrl: string | undefined;
  /** Where logins are switched off there is neither this nor a key. */
  readonly domain: string | undefined;
  /** The verifier's, Base58, the one that signs first. */
  readonly publicKeys: readonly string[] | undefined;
  readonly origin: string | undefined;
  readonly database: LedgerSettings['database'] | undefined;
  readonly takesWebhooks: boolean;
}

/** What is not set by the environment but by the code of the site. */
export type SiteOptions = Pick<ConfigOptions, 'login' | 'webhook' | 'allowEmbeddedLedger'>;

export interface ReadSettings {
  readonly settings: SoundSettings;
  readonly problems: readonly ConfigProblem[];
  /** What the site would log at its start. */
  readonly notices: readonly string[];
}

/** Reads the settings as a site does at its start, and keeps what holds. */
export function readSettings(env: Environment, options: SiteOptions): ReadSettings {
  const { problems, notices } = startWith(env, options);
  const isSound = (name: string): boolean => !!env[name] && !problems.some(({ setting }) => setting === name);
  const soundValue = (name: string): string | undefined => (isSound(name) ? env[name] : undefined);
  const hasLogin = options.login !== false;
  const hasKeys = isSound('INTENT_VERIFIER_SECRET') || isSound('INTENT_VERIFIER_SECRET_FILE');
  const isBroken = problems.some(({ setting }) => setting.startsWith('INTENT_VERIFIER_SECRET'));
  const settings = {
    sequencerUrl: soundValue('INTENT_SEQUENCER_URL'),
    grpcUrl: soundValue('INTENT_SEQUENCER_GRPC_URL'),
    domain: hasLogin ? soundValue('INTENT_DOMAIN') : undefined,
    publicKeys: hasLogin && hasKeys && !isBroken ? parseLoginKeys(env).publicKeys : undefined,
    origin: soundValue('INTENT_ORIGIN'),
    database: readDatabase(env),
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
