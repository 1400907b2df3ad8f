import { normalizeAccount } from '../keys/base58.js';
import { parseVerifyingKey } from '../keys/verifying-key.js';
import type { ConfigSource, Routes } from './config-options.js';

/** Receives the simulated payments of the simulator. Constant, so that `createPayment` accepts a key of an earlier start. */
const developmentAccount = 'ANMfB9D5VxRwsEiS7yZenmf2HYaP1X777c84oMc5QQkm';

export function readDestination({ options, env, report }: ConfigSource, isSimulated: boolean): string | undefined {
  const destination = options.destination ?? env.INTENT_DESTINATION;
  if (!destination) return isSimulated ? developmentAccount : undefined;
  const fix = 'INTENT_DESTINATION=<the Base58 account that receives payments>';
  return report.parse('INTENT_DESTINATION', fix, () => normalizeAccount(destination));
}

const originForm = 'lower case, no default port, path or trailing slash';

/** The origin of the site, as the address bar shows it. */
export function readOrigin({ options, env, production, report }: ConfigSource): string | undefined {
  const origin = options.origin ?? env.INTENT_ORIGIN;
  if (!origin) return undefined;
  const problem = problemOfOrigin(origin, production);
  if (problem === undefined) return origin;
  const example = production ? 'https://example.com' : 'http://localhost:3000';
  return report.problem('INTENT_ORIGIN', problem, `INTENT_ORIGIN=${example} (${originForm})`);
}

export function readReturnOrigins({ options, production, report }: ConfigSource): readonly string[] {
  const { returnOrigins = [] } = options.button ?? {};
  for (const origin of returnOrigins) {
    const problem = problemOfOrigin(origin, production);
    if (problem === undefined) continue;
    const fix = `button: { returnOrigins: ['https://www.example.com'] } (${originForm})`;
    report.problem('button.returnOrigins', `${JSON.stringify(origin)}: ${problem}`, fix);
  }
  return Object.freeze([...returnOrigins]);
}

function problemOfOrigin(origin: string, production: boolean): string | undefined {
  // `URL` accepts `*`. Wildcards are not supported.
  if (!/^https?:[^*]*$/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin) {
    return 'It is not an origin in the form that browsers send.';
  }
  return production && !origin.startsWith('https://') ? 'It must be https when NODE_ENV=production.' : undefined;
}

export function readWalletUrl({ options, env, production, report }: ConfigSource): string | undefined {
  const url = options.button?.walletUrl ?? env.INTENT_WALLET_URL;
  if (!url) return undefined;
  const problem = problemOfWalletUrl(url, production);
  if (problem === undefined) return url;
  return report.problem('INTENT_WALLET_URL', problem, 'INTENT_WALLET_URL=https://<the page that opens the wallet>');
}

function problemOfWalletUrl(url: string, production: boolean): string | undefined {
  // `URL` ignores whitespace around it, which the link and the QR code would contain.
  if (!/^https?:\S+$/.test(url) || !URL.canParse(url)) return 'It is not an http(s) URL.';
  if (url.includes('#')) return 'It has a fragment. The client secret is appended as the fragment.';
  return production && !url.startsWith('https:') ? 'It must be https when NODE_ENV=production.' : undefined;
}

/** In bytes. At this limit elements.js takes at most 12 KB after gzip. */
const maxButtonConfigBytes = 670;

export function checkButtonConfig({ report }: ConfigSource, config: object): void {
  const bytes = Buffer.byteLength(JSON.stringify(config));
  if (bytes <= maxButtonConfigBytes) return;
  const problem = `The return origins, the wallet URL, \`routes\` and the texts of the button take ${bytes} bytes. The limit is ${maxButtonConfigBytes}, because every page with the button loads them.`;
  report.problem('button.returnOrigins', problem, 'Remove origins, or shorten URLs, paths and texts.');
}

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

export function readRoutes({ options, report }: ConfigSource): Routes {
  const { routes = {} } = options;
  report.unknownNames('routes', routes, Object.keys(defaultRoutes));
  const all = { ...defaultRoutes, ...routes };
  for (const [name, path] of Object.entries(all)) {
    if (path === false || (typeof path === 'string' && /^(?:\/[\w.~-]+)+$/.test(path))) continue;
    const problem = `${JSON.stringify(path)} is not allowed.`;
    const fix =
      "Use segments of letters, digits and . _ ~ -, each after a slash, such as '/pay' or '/a/b'. Or use false.";
    report.problem(`routes.${name}`, problem, fix);
  }
  // The path of the events route may be shared, because an id and `/events` follow it.
  const exact = Object.entries(all)
    .filter(([name, path]) => path !== false && name !== 'events')
    // Of two equal routes the one that the site sets is reported, not a default.
    .sort(([one], [other]) => Number(one in routes) - Number(other in routes));
  for (const [index, [name, path]] of exact.entries()) {
    const [other] = exact.slice(0, index).find(([, earlier]) => earlier === path) ?? [];
    if (other === undefined) continue;
    const problem = `It has the same path as \`${other}\`, ${path}.`;
    report.problem(`routes.${name}`, problem, 'Give each route its own path, or disable one with false.');
  }
  return Object.freeze(all);
}

export interface WebhookConfig {
  /** Base58 of 32 bytes each; undefined with the simulator. */
  readonly webhookPublicKeys: readonly string[] | undefined;
}

/** @param isSimulated the simulator needs neither a key nor an origin */
export function readWebhook({ options, env, report }: ConfigSource, isSimulated: boolean): WebhookConfig | undefined {
  if (!options.webhook) return undefined;
  if (options.routes?.webhook === false) {
    const fix = 'Remove `webhook`, or enable the route: routes: { webhook: "/intent/webhook" }';
    report.problem('webhook', 'It is true, but its route is disabled.', fix);
  }
  // The simulator generates a key at each start, so a configured key belongs to another service.
  if (isSimulated) return Object.freeze({ webhookPublicKeys: undefined });
  if (!(options.origin ?? env.INTENT_ORIGIN)) {
    const problem = 'It is not set. The sequencer calls webhooks at an absolute URL.';
    report.problem('INTENT_ORIGIN', problem, 'INTENT_ORIGIN=https://example.com (no path, no trailing slash)');
  }
  const fix = 'INTENT_WEBHOOK_PUBLIC_KEY=<the public key of the sequencer, Base58; several, separated by commas>';
  const { publicKeys } = options.webhook === true ? {} : options.webhook;
  const keys = publicKeys ?? env.INTENT_WEBHOOK_PUBLIC_KEY?.split(',').map((key) => key.trim()) ?? [];
  if (keys.join('') === '') {
    report.problem(
      'INTENT_WEBHOOK_PUBLIC_KEY',
      'It is not set. The router verifies webhook calls with this key of the sequencer.',
      fix,
    );
    return Object.freeze({ webhookPublicKeys: [] });
  }
  for (const [index, key] of keys.entries()) {
    const entry = keys.length > 1 ? `Entry ${index + 1} of ${keys.length}: ` : '';
    report.parse('INTENT_WEBHOOK_PUBLIC_KEY', fix, () => parseVerifyingKey(key), entry);
  }
  return Object.freeze({ webhookPublicKeys: Object.freeze([...new Set(keys)]) });
}
