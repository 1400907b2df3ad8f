import { type Check, type DoctorContext, type Finding, fault, ok, skipped } from './check.js';
import { explainNetwork } from './explain.js';
import { isLocal } from './valid-settings.js';
import { buttonPath, type RunningSite, readProblem } from './visitor.js';

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
  const found = [...lookAtScheme(siteUrl, production), ...lookAtMode(siteUrl, seen)];
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

function lookAtScheme({ protocol, hostname }: URL, production: boolean): Finding[] {
  if (protocol !== 'http:' || !production || isLocal(hostname)) return [];
  return [
    fault(
      'The site is served over http, where browsers keep none of its cookies.',
      'Serve it over https: --url https://...',
    ),
  ];
}

/** In production the button may be cached, and else not: that is how it shows. */
function lookAtMode({ protocol, hostname }: URL, { headers }: RunningSite): Finding[] {
  if (protocol === 'http:' || isLocal(hostname) || headers['cache-control'] !== 'no-cache') return [];
  const text = 'The site runs without NODE_ENV=production: the checks of production are off.';
  return [fault(text, 'Start the site with NODE_ENV=production.')];
}

/**
 * Whether the site takes what its own pages send and refuses what others do, which shows whether it knows its origin behind
 * a proxy. The body is no JSON, so that nothing is created.
 */
export const origin: Check = async (context) => {
  const { siteUrl, site, settings } = context;
  if (!siteUrl) return [noSite];
  const routes = await site().then(
    (seen) => seen.routes,
    () => undefined,
  );
  if (!routes?.intent) return [skipped('the route that creates intents was not found')];
  const url = new URL(routes.intent, siteUrl);
  const own = settings.origin ?? siteUrl.origin;
  const [asOwn, asStranger] = await Promise.all([
    knock(url, own, context),
    knock(url, 'https://stranger.invalid', context),
  ]);
  if (asStranger.code !== 'cross_site_request' && asStranger.code === asOwn.code && asOwn.code === 'invalid_json') {
    const mend = 'Let the proxy pass the header Origin as it came, and not one of its own.';
    return [fault('What another site sends is taken as if a page of this site had sent it.', mend)];
  }
  if (asOwn.code === 'invalid_json') return [ok(`what ${own} sends is taken, and what others send is not`)];
  if (asOwn.code !== 'cross_site_request') return [unexpected(asOwn, url)];
  return [await whyRefused(url, own, context)];
};

interface Knocked {
  readonly status: number;
  readonly code: string | undefined;
  readonly detail: string;
}

/** As a program does that says where it comes from. */
async function knock(url: URL, from: string, { visitor, signal }: DoctorContext): Promise<Knocked> {
  const headers = { origin: from, 'content-type': 'application/json' };
  const { status, text } = await visitor.read(url, { method: 'POST', headers, body: '{', signal });
  return { status, ...readProblem(text) };
}

async function whyRefused(url: URL, own: string, context: DoctorContext): Promise<Finding> {
  const { host, protocol } = url;
  if (protocol === 'https:' && (await knock(url, `http://${host}`, context)).code === 'invalid_json') {
    return fault(
      `The site takes itself for http://${host}, and refuses what its pages at https://${host} send.`,
      "app.set('trust proxy', 1), and let the proxy send X-Forwarded-Proto; or set INTENT_ORIGIN for the site.",
    );
  }
  const { detail } = await knock(url, own, context);
  const [, known] = /'Origin: (https?:\/\/[^']+)'/.exec(detail) ?? [];
  if (known !== undefined) {
    return fault(
      `The running site has INTENT_ORIGIN=${known}, and refuses what ${own} sends.`,
      `INTENT_ORIGIN=${own}, for the site`,
    );
  }
  return fault(
    `The site refuses what its own pages at ${own} send: it sees another host or scheme than people do.`,
    `INTENT_ORIGIN=${own}, for the site; or let the proxy pass the header Host, and set 'trust proxy'.`,
  );
}

function unexpected({ status, code }: Knocked, url: URL): Finding {
  if (status === 429) return skipped('the site has counted too many requests from here; ask again in a minute');
  const what = code === undefined ? `status ${status}` : `${status} ${code}`;
  return fault(
    `${url.pathname} answers ${what} where it should say that the body is no JSON.`,
    'Put the router in front of what answers there: a body parser, a csrf guard, a firewall.',
  );
}

const webhookPath = '/intent/webhook';

/** The route that the payment service calls, where webhooks are on. What is sent is of a type that it refuses unread. */
export const webhook: Check = async ({ settings, siteUrl, visitor, signal }) => {
  if (!settings.takesWebhooks) return [skipped('not used: INTENT_SERVICE_KEY is not set')];
  if (!siteUrl) return [noSite];
  const headers = { 'content-type': 'text/plain' };
  const { status, text } = await visitor.read(new URL(webhookPath, siteUrl), {
    method: 'POST',
    headers,
    body: 'doctor',
    signal,
  });
  if (readProblem(text).code === 'unsupported_media_type') return [ok(`${siteUrl.origin}${webhookPath} is there`)];
  if (status === 429) return [skipped('the site has counted too many requests from here; ask again in a minute')];
  return [
    fault(
      `${siteUrl.origin}${webhookPath} answers with status ${status}: the calls of the service do not get through.`,
      'intentRouter({ webhook: true }), and let the proxy or the firewall pass POST to this path from anywhere.',
    ),
  ];
};

/** The page that the link of the dialog leads to. */
export const wallet: Check = async ({ settings, visitor, signal }) => {
  const { walletUrl, sequencerUrl } = settings;
  if (walletUrl === undefined)
    return [skipped(sequencerUrl === 'embedded' ? 'embedded' : 'INTENT_WALLET_URL is not set')];
  const url = new URL(walletUrl);
  try {
    const { status } = await visitor.read(url, { signal });
    if (status < 400) return [ok(`${url.host} answers`)];
    return [
      fault(`${url.href} is answered with status ${status}.`, 'Set INTENT_WALLET_URL to the page of the wallet.'),
    ];
  } catch (error) {
    const { why, mend } = explainNetwork(error, url.host, 'Set INTENT_WALLET_URL to the page of the wallet.');
    return [fault(`${url.href} cannot be read: ${why}.`, mend)];
  }
};
