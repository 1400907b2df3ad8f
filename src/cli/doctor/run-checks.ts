import { withTimeout } from '../../async/timeout.js';
import type { Environment } from '../../config/variables.js';
import { ConfigError, messageOf } from '../../errors.js';
import { splitSecrets } from '../../keys/parse-secret.js';
import type { Host } from '../command.js';
import { type Check, type DoctorContext, type Finding, failure } from './check.js';
import { checkDatabase } from './database.js';
import { checkEvents } from './events.js';
import { ExternalClient } from './external-client.js';
import { checkKeyFile } from './key-file.js';
import { checkProxy } from './proxy.js';
import { type RunningSite, requestSite } from './running-site.js';
import { checkGrpc, checkSequencer, checkStream } from './sequencer.js';
import { checkConsistency, checkSettings, readSettings, type SiteCodeOptions } from './settings.js';
import { checkOrigin, checkSite, checkWallet, checkWebhook } from './site.js';

export interface NamedCheck {
  readonly name: string;
  readonly needsNetwork: boolean;
  readonly check: Check;
}

const local = (name: string, check: Check): NamedCheck => ({ name, needsNetwork: false, check });
const remote = (name: string, check: Check): NamedCheck => ({ name, needsNetwork: true, check });

/** All checks in the order of their output, from this machine outwards. `docs/doctor.md` has a row for each. */
export const checks: readonly NamedCheck[] = [
  local('settings', checkSettings),
  local('consistency', checkConsistency),
  remote('database', checkDatabase),
  remote('sequencer', checkSequencer),
  remote('stream', checkStream),
  remote('grpc', checkGrpc),
  remote('key file', checkKeyFile),
  remote('site', checkSite),
  remote('origin', checkOrigin),
  remote('proxy', checkProxy),
  remote('events', checkEvents),
  remote('webhook', checkWebhook),
  remote('wallet', checkWallet),
];

export interface Setup {
  readonly env: Environment;
  readonly envFile: string;
  readonly options: SiteCodeOptions;
  readonly siteUrl: URL | undefined;
  readonly isOffline: boolean;
}

export interface CheckResult {
  readonly check: string;
  readonly findings: readonly Finding[];
}

/** Runs all checks at once, each with a timeout, and yields their results in order. */
export async function* runChecks(
  setup: Setup,
  host: Host,
  list: readonly NamedCheck[] = checks,
): AsyncGenerator<CheckResult, void> {
  const client = new ExternalClient(host);
  const context = createContext(setup, host, client);
  const redact = redactSecrets(setup.env);
  try {
    const running = list
      .filter(({ needsNetwork }) => !(needsNetwork && setup.isOffline))
      .map((named) => ({ check: named.name, findings: runCheck(named, context) }));
    for (const { check, findings } of running) yield { check, findings: (await findings).map(redact) };
  } finally {
    await client.close();
  }
}

type SharedContext = Omit<DoctorContext, 'signal'>;

function createContext({ env, envFile, options, siteUrl }: Setup, host: Host, client: ExternalClient): SharedContext {
  let running: Promise<RunningSite> | undefined;
  return {
    env,
    envFile,
    siteUrl,
    host,
    client,
    ...readSettings(env, options),
    production: env.NODE_ENV === 'production',
    site: () => {
      if (!siteUrl) throw new Error('There is no site.');
      running ??= requestSite(client, siteUrl, AbortSignal.timeout(host.checkTimeoutMs - 500));
      return running;
    },
  };
}

/** Never rejects: an error or a timeout of a check becomes a finding. */
async function runCheck({ name, check }: NamedCheck, context: SharedContext): Promise<readonly Finding[]> {
  const { checkTimeoutMs } = context.host;
  const timeout = new Error(`The check did not finish within ${checkTimeoutMs / 1_000} seconds.`);
  try {
    return await withTimeout(checkTimeoutMs, (signal) => check({ ...context, signal }), { error: () => timeout });
  } catch (error) {
    if (error === timeout) {
      return [
        failure(
          timeout.message,
          'Run the doctor again. If the check fails again, see the other checks for a server that does not respond.',
        ),
      ];
    }
    if (error instanceof ConfigError) {
      return error.problems.map(({ setting, problem, fix }) => failure(`${setting}: ${problem}`, fix));
    }
    const fix = `Fix the cause, or report a bug: the check ${name} of the doctor threw this error.`;
    return [failure(`The check failed: ${messageOf(error)}`, fix)];
  }
}

/** Shorter secrets may be part of ordinary words. */
const minSecretLength = 8;

/** Removes secrets from findings, which may quote other programs and servers. */
function redactSecrets(env: Environment): (finding: Finding) => Finding {
  const secrets = secretsIn(env).filter((secret) => secret.length >= minSecretLength);
  const redact = (text: string): string => secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
  return (finding) => ({
    ...finding,
    text: redact(finding.text),
    ...('fix' in finding && { fix: redact(finding.fix) }),
  });
}

function secretsIn(env: Environment): string[] {
  const { INTENT_VERIFIER_SECRET = '', INTENT_SECRET = '', INTENT_DATABASE_URL = '' } = env;
  const cookieSecrets = INTENT_SECRET.split(',').map((part) => part.trim());
  const [, password = ''] = /^[a-z+]+:\/\/[^/@]*?:(.*)@/i.exec(INTENT_DATABASE_URL) ?? [];
  return [...splitSecrets(INTENT_VERIFIER_SECRET), ...cookieSecrets, password, decoded(password)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
