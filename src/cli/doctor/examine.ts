import type { Environment } from '../../config.js';
import { readError } from '../../emulator/read-error.js';
import type { DoctorContext } from './check.js';
import { checks, type NamedCheck } from './checks.js';
import { type Finding, fault } from './finding.js';
import { hideSecrets } from './hide-secrets.js';
import { type RunningSite, visitSite } from './running-site.js';
import { readSettings, type SiteOptions } from './sound-settings.js';
import { Visitor } from './visitor.js';
import type { World } from './world.js';

export interface Examination {
  readonly env: Environment;
  readonly envFile?: string | undefined;
  readonly options: SiteOptions;
  readonly siteUrl: URL | undefined;
  readonly isOffline: boolean;
  readonly mayCreate: boolean;
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
      .map((named) => ({ check: named.name, findings: look(named, context, world) }));
    for (const { check, findings } of running) yield { check, findings: (await findings).map(clean) };
  } finally {
    await visitor.close();
  }
}

type SharedContext = Omit<DoctorContext, 'signal'>;

function contextOf(examination: Examination, world: World, visitor: Visitor): SharedContext {
  const { env, envFile, options, siteUrl, mayCreate } = examination;
  let visit: Promise<RunningSite> | undefined;
  return {
    ...{ env, envFile, siteUrl, mayCreate, world, visitor },
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
async function look({ name, check }: NamedCheck, context: SharedContext, world: World): Promise<readonly Finding[]> {
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
