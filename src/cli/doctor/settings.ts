import {
  type Config,
  ignoreIfReturned,
  noDestination,
  noSecret,
  parseConfig,
  parseLedgerSettings,
  parseLoginKeys,
} from '../../config/config.js';
import type { ConfigOptions } from '../../config/config-options.js';
import { unknownVariables } from '../../config/typos.js';
import { type Environment, knownVariables } from '../../config/variables.js';
import { ConfigError, type ConfigProblem } from '../../errors.js';
import { doctorToken } from '../../http/operations/proxy-report.js';
import type { LedgerSettings } from '../../ledger/ledger-settings.js';
import { isLoopback } from '../../net/url.js';
import { closestName } from '../../reject-unknown.js';
import {
  type Check,
  type DoctorContext,
  type Finding,
  failure,
  ok,
  skipped,
  type ValidSettings,
  warning,
} from './check.js';

/** Options that a site can set only in its code. Flags of the doctor state them, because the environment does not show them. */
export type SiteCodeOptions = Pick<ConfigOptions, 'login' | 'webhook' | 'ledger'>;

/** Reads the settings as a site does at startup. Returns the valid ones, and the problems of the others. */
export function readSettings(
  env: Environment,
  options: SiteCodeOptions,
): { readonly settings: ValidSettings; readonly problems: readonly ConfigProblem[] } {
  const { config, problems } = tryConfig(options, env);
  const isValid = (name: string): boolean => !!env[name] && !problems.some(({ setting }) => setting === name);
  const validValue = (name: string): string | undefined => (isValid(name) ? env[name] : undefined);
  const hasLogin = options.login !== false;
  const hasKeys = isValid('INTENT_VERIFIER_SECRET') || isValid('INTENT_VERIFIER_SECRET_FILE');
  const hasBrokenKeys = problems.some(({ setting }) => setting.startsWith('INTENT_VERIFIER_SECRET'));
  const [cookieKey] = config?.login?.cookieKeys ?? [];
  const settings = {
    sequencerUrl: validValue('INTENT_SEQUENCER_URL'),
    grpcUrl: validValue('INTENT_SEQUENCER_GRPC_URL'),
    hasLogin,
    domain: hasLogin ? validValue('INTENT_DOMAIN') : undefined,
    publicKeys: hasLogin && hasKeys && !hasBrokenKeys ? parseLoginKeys(env).publicKeys : undefined,
    origin: validValue('INTENT_ORIGIN'),
    database: readDatabase(env),
    walletUrl: validValue('INTENT_WALLET_URL'),
    takesWebhooks: options.webhook === true,
    doctorToken: cookieKey && doctorToken(cookieKey),
  };
  return { settings, problems };
}

function tryConfig(
  options: SiteCodeOptions,
  env: Environment,
): { readonly config?: Config; readonly problems: readonly ConfigProblem[] } {
  try {
    return { config: parseConfig(options, env, true), problems: [] };
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems };
    throw error;
  }
}

/** Includes a database that the site rejects, such as a folder in production. */
function readDatabase(env: Environment): LedgerSettings['database'] | undefined {
  try {
    return parseLedgerSettings(env).database;
  } catch {
    return undefined;
  }
}

export const isLocal = (hostname: string): boolean => isLoopback(hostname) || hostname.endsWith('.localhost');

/** The environment does not show the option `signer`. */
const signerNote = (setting: string, problem: string): string =>
  setting === 'INTENT_VERIFIER_SECRET' && problem.startsWith('It is not set')
    ? ' Ignore this if the site passes `login.signer`.'
    : '';

export const checkSettings: Check = async ({ env, problems, production, settings }) => {
  const errors = problems.map(({ setting, problem, fix }) =>
    failure(`${setting}: ${problem}`, fix + signerNote(setting, problem)),
  );
  const unknown = unknownVariables(env).map((name) => {
    const closest = closestName(name, knownVariables);
    const fix = closest === undefined ? `The settings are ${knownVariables.join(', ')}.` : `Did you mean ${closest}?`;
    return warning(
      `${name} is not a setting of express-intents.`,
      `${fix} Ignore this warning if your app reads ${name}.`,
    );
  });
  const found = [...errors, ...unknown, ...checkDestination(env, production)];
  if (production && settings.hasLogin && !env.INTENT_SECRET) {
    found.push(warning(noSecret.problem, `${noSecret.fix} Ignore this warning if the site passes \`secret\`.`));
  }
  if (found.length > 0) return found;
  const count = knownVariables.filter((name) => env[name]).length;
  return [
    ok(
      `${count} ${count === 1 ? 'variable' : 'variables'} set, all valid; production mode ${production ? 'on' : 'off'}`,
    ),
  ];
};

/** Without a destination, payments fail unless their terms have one. The environment does not show whether the site has payments. */
function checkDestination(env: Environment, production: boolean): Finding[] {
  const isGenerated = env.INTENT_SEQUENCER_URL === 'simulator' && !production;
  if (env.INTENT_DESTINATION || isGenerated) return [];
  const { problem, fix } = noDestination;
  return [warning(problem, `${fix} ${ignoreIfReturned}, or if the site has no payments.`)];
}

/** Whether INTENT_DOMAIN, INTENT_ORIGIN, NODE_ENV and `--url` are consistent. */
export const checkConsistency: Check = async (context) => {
  const { settings, siteUrl, production, env } = context;
  const { domain, origin, sequencerUrl } = settings;
  const found: Finding[] = [];
  const host = origin === undefined ? undefined : new URL(origin).hostname;
  if (domain !== undefined && host !== undefined && !isLocal(host) && !isWithin(host, domain)) {
    found.push(
      warning(
        `INTENT_DOMAIN is ${domain}, but the site is at ${host}: the wallet and the browser show different names.`,
        `Set INTENT_DOMAIN=<the registrable domain of ${host}>, or serve the site at ${domain}.`,
      ),
    );
  }
  if (siteUrl && origin !== undefined && siteUrl.origin !== origin) {
    found.push(
      failure(
        `INTENT_ORIGIN is ${origin}, but the site is at ${siteUrl.origin}. Webhooks are sent to INTENT_ORIGIN, and the site accepts only that Origin.`,
        `INTENT_ORIGIN=${siteUrl.origin}`,
      ),
    );
  }
  if (!production && sequencerUrl !== 'simulator' && (origin ?? siteUrl?.origin)?.startsWith('https:')) {
    const now = env.NODE_ENV ? `is ${env.NODE_ENV}` : 'is not set';
    found.push(
      warning(`NODE_ENV ${now}, but the site is served over https: production mode is off.`, 'NODE_ENV=production'),
    );
  }
  if (found.length > 0) return found;
  const all = [domain, origin].filter((name) => name !== undefined);
  return [all.length > 0 ? ok(`${all.join(' and ')}: no contradiction`) : skipped(reasonToSkip(context))];
};

function reasonToSkip({ env, problems }: DoctorContext): string {
  const isInvalid = (name: string): boolean => !!env[name] && problems.some(({ setting }) => setting === name);
  const invalid = ['INTENT_DOMAIN', 'INTENT_ORIGIN'].filter(isInvalid);
  if (invalid.length > 0) return `${invalid.join(' and ')} ${invalid.length > 1 ? 'are' : 'is'} not valid`;
  if (env.INTENT_DOMAIN) return 'logins are disabled, and INTENT_ORIGIN is not set';
  return 'neither INTENT_DOMAIN nor INTENT_ORIGIN is set';
}

const isWithin = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`);
