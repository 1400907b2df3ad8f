import type { Check } from './check.js';
import { explainNetwork } from './explain-network.js';
import { type Finding, fault, ok, skipped, warning } from './finding.js';
import { isLocal } from './names.js';
import { buttonPath, type RunningSite } from './running-site.js';

/** Without a running site there is nothing to look at. */
export const noSite = skipped('name the running site with --url https://...');

/** The running site: it answers, the router is in it at the root, and it is as it should be in production. */
export const site: Check = async ({ siteUrl, site: visit, production }) => {
  if (!siteUrl) return [noSite];
  let seen: RunningSite;
  try {
    seen = await visit();
  } catch (error) {
    const { why, mend } = explainNetwork(error, siteUrl.host, 'Start the site, or correct --url.');
    return [fault(`${siteUrl.origin} cannot be reached: ${why}.`, mend)];
  }
  const wrong = findWrong(seen, siteUrl);
  if (wrong) return [wrong];
  const found = [...lookAtScheme(siteUrl, seen, production), ...lookAtMode(siteUrl, seen)];
  return found.length > 0 ? found : [ok(`${siteUrl.origin} has the router at its root`)];
};

function findWrong({ status, headers, routes }: RunningSite, siteUrl: URL): Finding | undefined {
  if (routes) return undefined;
  const what = `${siteUrl.origin}${buttonPath}`;
  if (status >= 300 && status < 400) {
    const to = headers.location ?? 'nowhere';
    const target = URL.canParse(to, siteUrl.href) ? new URL(to, siteUrl).origin : 'https://...';
    return fault(`${what} is a redirect to ${to}.`, `Where people are sent there, look at that: --url ${target}`);
  }
  if (status >= 500) {
    return fault(
      `${what} is answered with status ${status}.`,
      'Start the app, and let the proxy name the port it listens on.',
    );
  }
  const answer = status === 200 ? 'is not the file of the button' : `is answered with status ${status}`;
  return fault(
    `${what} ${answer}.`,
    'app.use(intentRouter()) without a path, in front of what answers 404; and let the proxy pass all paths to the app.',
  );
}

function lookAtScheme({ protocol, hostname }: URL, { headers }: RunningSite, production: boolean): Finding[] {
  if (protocol === 'http:') {
    if (!production || isLocal(hostname)) return [];
    return [
      fault(
        'The site is served over http, where browsers keep none of its cookies.',
        'Serve it over https: --url https://...',
      ),
    ];
  }
  if (headers['strict-transport-security'] || isLocal(hostname)) return [];
  const mend =
    'Send Strict-Transport-Security: max-age=31536000 with every answer: app.use(helmet()) does, or the proxy.';
  return [warning('The site does not tell browsers to come over https alone (HSTS).', mend)];
}

/** In production the button may be cached, and else not: that is how it shows. */
function lookAtMode({ protocol, hostname }: URL, { headers }: RunningSite): Finding[] {
  if (protocol === 'http:' || isLocal(hostname) || headers['cache-control'] !== 'no-cache') return [];
  const text = 'The site runs without NODE_ENV=production: the checks of production are off.';
  return [fault(text, 'Start the site with NODE_ENV=production.')];
}
