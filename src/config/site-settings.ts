import { parseAccount } from '../keys/base58.js';
import { generateKey } from '../keys/verifier-key.js';
import type { ConfigOptions, Environment, Routes } from './config.js';
import type { Report } from './report.js';

const defaultRoutes: Routes = {
  intent: '/intent',
  status: '/status',
  events: '/intent',
  elements: '/intent/v1',
  webhook: '/intent/webhook',
  session: '/session',
  keyFile: '/.well-known/service-payments.json',
  openapi: '/intent/v1/openapi.json',
  health: false,
};

/** The account that payments go to where their terms name none. */
export function readDestination(
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

/** The origin that people see in the address bar. */
export function readOrigin(origin: string | undefined, production: boolean, report: Report): string | undefined {
  if (!origin) return undefined;
  const mend = `INTENT_ORIGIN=${production ? 'https://example.com' : 'http://localhost:3000'} (no path, no slash at the end)`;
  const problem = problemOfOrigin(origin, production);
  return problem === undefined ? origin : report.problem('INTENT_ORIGIN', problem, mend);
}

/** The origins that a person may be sent to from a page of this site. */
export function readReturnOrigins(
  origins: readonly string[] = [],
  production: boolean,
  report: Report,
): readonly string[] {
  for (const origin of origins) {
    const problem = problemOfOrigin(origin, production);
    if (problem === undefined) continue;
    const mend = "returnOrigins: ['https://www.example.com'] (no path, no slash at the end)";
    report.problem('returnOrigins', `${JSON.stringify(origin)}: ${problem}`, mend);
  }
  return Object.freeze([...origins]);
}

function problemOfOrigin(origin: string, production: boolean): string | undefined {
  // A star is a letter like any other to URLs, and nothing stands for it.
  if (!/^https?:[^*]*$/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin) {
    return 'It is not an origin.';
  }
  return production && !origin.startsWith('https://') ? 'It must be https when NODE_ENV=production.' : undefined;
}

/** Where a wallet link leads, before the fragment with the client secret. */
export function readWalletUrl(url: string | undefined, production: boolean, report: Report): string | undefined {
  if (!url) return undefined;
  const mend = 'INTENT_WALLET_URL=https://<the page that opens the wallet>';
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    return report.problem('INTENT_WALLET_URL', 'It is not an http(s) URL.', mend);
  }
  if (url.includes('#')) {
    return report.problem('INTENT_WALLET_URL', 'It has a fragment, which is where the client secret goes.', mend);
  }
  if (production && !url.startsWith('https:')) {
    return report.problem('INTENT_WALLET_URL', 'It must be https when NODE_ENV=production.', mend);
  }
  return url;
}

/** The paths of the routes. */
export function readRoutes(routes: Partial<Routes> = {}, report: Report): Routes {
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
  // Something follows the path of the events, so that it may begin as another route.
  const whole = Object.entries(all).flatMap(([name, path]) => (path === false || name === 'events' ? [] : [path]));
  if (new Set(whole).size < whole.length) {
    report.problem('routes', 'Two routes have the same path.', 'Give each its own, or switch one off with false.');
  }
  return Object.freeze(all);
}
