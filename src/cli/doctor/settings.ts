import { knownVariables, nearestName } from '../../config/typos.js';
import { type Check, type Finding, fault, ok, skipped, warning } from './check.js';
import { isLocal } from './valid-settings.js';

/** Every setting as the site itself reads it at its start; what is wrong comes at once. */
export const settings: Check = async ({ env, problems, production }) => {
  const faults = problems.map(({ setting, problem, mend }) => fault(`${setting}: ${problem}`, mend));
  const unknown = Object.keys(env)
    .filter((name) => /^INTENTS?_/.test(name) && !knownVariables.includes(name))
    .map((name) =>
      warning(
        `${name} is no setting of express-intents.`,
        `Did you mean ${nearestName(name, knownVariables)}? Else leave it out.`,
      ),
    );
  const all = [...faults, ...unknown];
  const where = production ? 'in production' : 'not in production';
  return all.length > 0 ? all : [ok(`${countOf(env)} set, all can be read, ${where}`)];
};

const countOf = (env: Readonly<Record<string, string | undefined>>): number =>
  knownVariables.filter((name) => env[name]).length;

/** How the domain in logins, the origin of the site and the address that people see fit together. */
export const names: Check = async ({ settings, siteUrl, production, env }) => {
  const { domain, origin, sequencerUrl } = settings;
  const found: Finding[] = [];
  const host = origin === undefined ? undefined : new URL(origin).hostname;
  if (domain !== undefined && host !== undefined && !isLocal(host) && !isWithin(host, domain)) {
    found.push(
      warning(
        `Logins name ${domain}, and people see ${host}: what their wallet shows is another name than that of your site.`,
        `INTENT_DOMAIN=<the registrable name of ${host}>, or serve the site at ${domain}`,
      ),
    );
  }
  if (siteUrl && origin !== undefined && siteUrl.origin !== origin) {
    found.push(
      fault(
        `The site is at ${siteUrl.origin}, and INTENT_ORIGIN says ${origin}: programs and webhooks go there.`,
        `INTENT_ORIGIN=${siteUrl.origin}`,
      ),
    );
  }
  if (!production && sequencerUrl !== 'embedded' && (origin ?? siteUrl?.origin)?.startsWith('https:')) {
    const now = env.NODE_ENV ? `is ${env.NODE_ENV}` : 'is not set';
    found.push(
      warning(
        `NODE_ENV ${now}, and the site is served over https: the checks of production are off.`,
        'NODE_ENV=production',
      ),
    );
  }
  if (found.length > 0) return found;
  const all = [domain, origin].filter((name) => name !== undefined);
  return [all.length > 0 ? ok(all.join(' and ')) : skipped('neither INTENT_DOMAIN nor INTENT_ORIGIN is set')];
};

const isWithin = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`);
