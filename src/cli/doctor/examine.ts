import type { Environment } from '../../config/config-options.js';
import { readError } from '../../emulator/outbound/read-error.js';
import { type Check, type DoctorContext, type Finding, fault } from './check.js';
import { database } from './database.js';
import { events } from './events.js';
import { keyFile } from './key-file.js';
import { grpc, sequencer, stream } from './sequencer.js';
import { names, settings } from './settings.js';
import { origin, site, wallet, webhook } from './site.js';
import { readSettings, type SiteOptions } from './valid-settings.js';
import { type RunningSite, Visitor, visitSite } from './visitor.js';
import type { World } from './world.js';

export interface NamedCheck {
  readonly name: string;
  readonly needsNetwork: boolean;
  readonly check: Check;
}

const local = (name: string, check: Check): NamedCheck => ({ name, needsNetwork: false, check });
const remote = (name: string, check: Check): NamedCheck => ({ name, needsNetwork: true, check });

/** All checks, in the order in which they are printed: from this machine outwards. `docs/cli.md` has a row for each. */
export const checks: readonly NamedCheck[] = [
  local('settings', settings),
  local('names', names),
  remote('database', database),
  remote('sequencer', sequencer),
  remote('stream', stream),
  remote('grpc', grpc),
  remote('key file', keyFile),
  remote('site', site),
  remote('origin', origin),
  remote('events', events),
  remote('webhook', webhook),
  remote('wallet', wallet),
];

export interface Examination {
  readonly env: Environment;
  readonly options: SiteOptions;
  readonly siteUrl: URL | undefined;
  readonly isOffline: boolean;
}

/** What one check has found. */
export interface Examined {
  readonly check: string;
  readonly findings: readonly Finding[];
}

/** Runs all checks at once, each in bounded time, and yields what they find in their order. */
export async function* examine(
  examination: Examination,
  world: World,
  list: readonly NamedCheck[] = checks,
): AsyncGenerator<Examined, void> {
  const visitor = new Visitor(world);
  const context = contextOf(examination, world, visitor);
  const clean = hideSecrets(examination.env);
  try {
    const running = list
      .filter(({ needsNetwork }) => !(needsNetwork && examination.isOffline))
      .map((named) => ({ check: named.name, findings: runCheck(named, context, world) }));
    for (const { check, findings } of running) yield { check, findings: (await findings).map(clean) };
  } finally {
    await visitor.close();
  }
}

type SharedContext = Omit<DoctorContext, 'signal'>;

function contextOf(examination: Examination, world: World, visitor: Visitor): SharedContext {
  const { env, options, siteUrl } = examination;
  let visit: Promise<RunningSite> | undefined;
  return {
    ...{ env, siteUrl, world, visitor },
    ...readSettings(env, options),
    production: env.NODE_ENV === 'production',
    site: () => {
      if (!siteUrl) throw new Error('There is no site.');
      visit ??= visitSite(visitor, siteUrl, AbortSignal.timeout(world.checkMs - 500));
      return visit;
    },
  };
}

/** Never rejects: a check that does is a finding as well. */
async function runCheck(
  { name, check }: NamedCheck,
  context: SharedContext,
  world: World,
): Promise<readonly Finding[]> {
  const signal = AbortSignal.timeout(world.checkMs);
  const tooLate = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  try {
    return await Promise.race([check({ ...context, signal }), tooLate]);
  } catch (error) {
    if (signal.aborted) {
      const text = `It did not come to an end within ${world.checkMs / 1_000} seconds.`;
      return [fault(text, 'See the other lines: what it asks does not answer, or very slowly.')];
    }
    const message = String(readError(error).message ?? error);
    return [
      fault(
        `It could not be looked at: ${message}`,
        `Mend that, or report it: the check ${name} of the doctor has failed.`,
      ),
    ];
  }
}

/** What is shorter is found in many a word of ours. */
const shortest = 8;

/**
 * Takes what is secret in the environment out of findings. None of them puts it in; what other programs and machines say
 * is in them, though.
 */
function hideSecrets(env: Environment): (finding: Finding) => Finding {
  const secrets = secretsIn(env).filter((secret) => secret.length >= shortest);
  const hide = (text: string): string => secrets.reduce((hidden, secret) => hidden.replaceAll(secret, '***'), text);
  return (finding) => ({
    ...finding,
    text: hide(finding.text),
    ...('mend' in finding && { mend: hide(finding.mend) }),
  });
}

function secretsIn(env: Environment): string[] {
  const { INTENT_VERIFIER_SECRET = '', INTENT_SECRET = '', INTENT_DATABASE_URL = '' } = env;
  const listed = [INTENT_VERIFIER_SECRET, INTENT_SECRET].flatMap((text) => text.split(',').map((part) => part.trim()));
  const [, password = ''] = /^[a-z+]+:\/\/[^/@]*?:(.*)@/i.exec(INTENT_DATABASE_URL) ?? [];
  return [...listed, password, decoded(password)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
