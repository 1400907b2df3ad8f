import {
  type Check,
  type DoctorContext,
  type Finding,
  failure,
  noRoute,
  ok,
  routesOf,
  skipped,
  warning,
} from './check.js';
import { explainNetwork, readProblem } from './external-client.js';
import { buttonPath, openApiPath, pathOfOperation, type RunningSite } from './running-site.js';
import { isLocal } from './settings.js';

export const noSite = skipped('pass the URL of the running site with --url https://...');

/** The running site: it responds, has the router, and uses production mode over https. */
export const checkSite: Check = async (context) => {
  const { siteUrl, site: request, production } = context;
  if (!siteUrl) return [noSite];
  let seen: RunningSite;
  try {
    seen = await request();
  } catch (error) {
    const { why, fix } = explainNetwork(error, siteUrl.host, 'Start the site, or correct --url.');
    return [failure(`${siteUrl.origin} cannot be reached: ${why}.`, fix)];
  }
  const wrong = checkRouter(seen, siteUrl);
  if (wrong) return [wrong];
  const { mountPath } = seen;
  const found = [...checkScheme(siteUrl, production), ...checkMode(siteUrl, seen)];
  return found.length > 0
    ? found
    : [ok(`${siteUrl.origin} has the router ${mountPath ? `under ${mountPath}` : 'at its root'}`)];
};

export const startApp = 'Start the app, and point the proxy at its port.';

function checkRouter({ status, headers, routes }: RunningSite, siteUrl: URL): Finding | undefined {
  if (routes) return undefined;
  const what = `${siteUrl.origin}${buttonPath}`;
  if (status >= 300 && status < 400) {
    const { location } = headers;
    if (location === undefined) {
      const fix = 'Configure the proxy to forward this path to the app.';
      return failure(`${what} is a redirect without a Location header.`, fix);
    }
    const target = URL.canParse(location, siteUrl.href) ? new URL(location, siteUrl).origin : 'https://...';
    const fix =
      target === siteUrl.origin
        ? 'Mount the router before the middleware that redirects this path.'
        : `If visitors use that origin, run the doctor with --url ${target}`;
    return failure(`${what} is a redirect to ${location}.`, fix);
  }
  if (status >= 500) {
    return failure(`${what} answers with status ${status}.`, startApp);
  }
  if (status === 429) return rateLimited;
  const answer = status === 200 ? 'is not the file of the button' : `answers with status ${status}`;
  return failure(
    `${what} ${answer}.`,
    'Use app.use(intentRouter()) without a path, before all other handlers of this path, such as a login middleware, and keep the default path of the route `elements`. Configure the proxy to forward all paths to the app.',
  );
}

function checkScheme({ protocol, hostname }: URL, production: boolean): Finding[] {
  if (protocol !== 'http:' || !production || isLocal(hostname)) return [];
  return [
    failure(
      'The site is served over http, where browsers reject its cookies.',
      'Serve the site over https, then run the doctor with --url https://...',
    ),
  ];
}

/** The cache headers of the button show the mode: it is cached in production only. */
function checkMode({ protocol, hostname }: URL, { headers }: RunningSite): Finding[] {
  if (protocol === 'http:' || isLocal(hostname) || headers['cache-control'] !== 'no-cache') return [];
  const text = 'The site runs without NODE_ENV=production: production mode is off.';
  return [failure(text, 'Start the site with NODE_ENV=production.')];
}

/** Passes the body parsers of the app, the origin check and the rate limit. Its unknown field is rejected; nothing is created or logged. */
export const rejectedBody = '{"doctor":true}';
const rejectedCode = 'unknown_field';

/**
 * Whether the site accepts requests from its own pages and rejects those from other sites: it must know its origin behind a
 * proxy.
 */
export const checkOrigin: Check = async (context) => {
  const { siteUrl, settings } = context;
  if (!siteUrl) return [noSite];
  const routes = await routesOf(context);
  if (!routes?.intent) return [noRoute('intent')];
  const url = new URL(routes.intent, siteUrl);
  const own = settings.origin ?? siteUrl.origin;
  const [asOwn, asStranger] = await Promise.all([
    postFrom(own, url, context),
    postFrom('https://stranger.invalid', url, context),
  ]);
  if (asStranger.code !== 'cross_site_request' && asStranger.code === asOwn.code && asOwn.code === rejectedCode) {
    const fix = 'Configure the proxy to forward the header Origin unchanged.';
    return [failure('The site accepts requests from pages of other sites.', fix)];
  }
  if (asOwn.code === rejectedCode)
    return [ok(`requests from ${own} are accepted, those from other sites are rejected`)];
  if (asOwn.code !== 'cross_site_request') return [unexpected(asOwn, url)];
  return [await explainRefusal(url, own, context)];
};

interface PostAnswer {
  readonly status: number;
  readonly code: string | undefined;
  readonly detail: string;
}

/** Posts the rejected body, as a page of the given origin would. */
async function postFrom(origin: string, url: URL, { client, signal }: DoctorContext): Promise<PostAnswer> {
  const headers = { origin, 'content-type': 'application/json' };
  const { status, text } = await client.read(url, { method: 'POST', headers, body: rejectedBody, signal });
  return { status, ...readProblem(text) };
}

async function explainRefusal(url: URL, own: string, context: DoctorContext): Promise<Finding> {
  const { host, protocol } = url;
  if (protocol === 'https:' && (await postFrom(`http://${host}`, url, context)).code === rejectedCode) {
    return failure(
      `The site believes that it is at http://${host}, and rejects requests from its pages at https://${host}.`,
      "Use app.set('trust proxy', 1) and configure the proxy to send X-Forwarded-Proto. Or set INTENT_ORIGIN for the site.",
    );
  }
  const { detail } = await postFrom(own, url, context);
  const [, known] = /'Origin: (https?:\/\/[^']+)'/.exec(detail) ?? [];
  if (known !== undefined) {
    return failure(
      `The running site has INTENT_ORIGIN=${known}, and rejects requests from ${own}.`,
      `Set INTENT_ORIGIN=${own} for the site.`,
    );
  }
  return failure(
    `The site rejects requests from its own pages at ${own}: it sees another host or scheme than visitors do.`,
    `Set INTENT_ORIGIN=${own} for the site. Or configure the proxy to forward the header Host, and set 'trust proxy'.`,
  );
}

function unexpected({ status, code }: PostAnswer, url: URL): Finding {
  if (status === 429) return rateLimited;
  if (code === 'closing') return shuttingDown;
  const what = code === undefined ? `status ${status}` : `${status} ${code}`;
  if (isAppDown(status, code)) return failure(`${url.pathname} answers ${what}.`, startApp);
  return failure(
    `${url.pathname} answers ${what} to the doctor. Expected: ${rejectedCode} from the router.`,
    'Another handler answers or changes the request first, such as a CSRF guard, a body parser or a firewall. Exclude this path ' +
      'from it, or mount the router before it.',
  );
}

/** A proxy answers without a code, the router always with one. */
export const isAppDown = (status: number, code: string | undefined): boolean =>
  code === undefined && status >= 502 && status <= 504;

export const rateLimited = skipped(
  'the site has reached its rate limit for this machine; run the doctor again in a minute',
);

export const shuttingDown = skipped('the site is shutting down; run the doctor again');

/** The webhook route, if webhooks are enabled. It rejects the content type of this request without reading the body. */
export const checkWebhook: Check = async (context) => {
  const { settings, siteUrl, client, signal } = context;
  if (!settings.takesWebhooks)
    return [skipped('INTENT_WEBHOOK_PUBLIC_KEY is not set; pass --webhook if the site has `webhook: true`')];
  if (!siteUrl) return [noSite];
  const site = await context.site().catch(() => undefined);
  if (!site) return [skipped('the site cannot be reached; see the check `site`')];
  const { mountPath } = site;
  // The site may rename the route.
  const described = await pathOfOperation('receiveWebhook', client, new URL(mountPath + openApiPath, siteUrl), signal);
  const path = mountPath + (described || '/intent/webhook');
  const headers = { 'content-type': 'text/plain' };
  const { status, text } = await client.read(new URL(path, siteUrl), {
    method: 'POST',
    headers,
    body: 'doctor',
    signal,
  });
  const { code } = readProblem(text);
  if (code === 'unsupported_media_type') return [ok(`${siteUrl.origin}${path} answers`)];
  if (status === 429) return [rateLimited];
  if (code === 'closing') return [shuttingDown];
  const symptom = `${siteUrl.origin}${path} answers with status ${status}`;
  if (isAppDown(status, code)) return [failure(`${symptom}.`, startApp)];
  if (status === 404 && site.routes && described === undefined) {
    return [
      warning(
        `${symptom}, and ${mountPath}${openApiPath}, which names the webhook route, cannot be read.`,
        'If the webhook route is renamed, serve the route `openapi` at its default path to check it. Otherwise set ' +
          'intentRouter({ webhook: true }), and configure the proxy and the firewall to pass POST to this path from anywhere.',
      ),
    ];
  }
  return [
    failure(
      `${symptom}: calls from the sequencer do not reach the router.`,
      'Set intentRouter({ webhook: true }). Configure the proxy and the firewall to pass POST to this path from anywhere. Without ' +
        'webhooks, unset INTENT_WEBHOOK_PUBLIC_KEY.',
    ),
  ];
};

const walletFix = 'Set INTENT_WALLET_URL to the page that opens the wallet.';

export const checkWallet: Check = async ({ settings, client, signal, env }) => {
  const { walletUrl, sequencerUrl } = settings;
  if (walletUrl === undefined) {
    if (env.INTENT_WALLET_URL) return [skipped('INTENT_WALLET_URL is not valid')];
    if (sequencerUrl === 'simulator') return [skipped('the simulator has its own wallet page')];
    return [
      warning(
        'INTENT_WALLET_URL is not set: on a phone the button has no link that opens the wallet.',
        `${walletFix} Ignore this if the code of the site sets it.`,
      ),
    ];
  }
  const url = new URL(walletUrl);
  try {
    // Without the body: the page of a wallet may be large.
    const { status, body } = await client.send(url, { signal });
    body.destroy();
    if (status < 400) return [ok(`${url.host} answers`)];
    return [failure(`${url.href} answers with status ${status}.`, walletFix)];
  } catch (error) {
    const { why, fix } = explainNetwork(error, url.host, walletFix);
    return [failure(`${url.href} cannot be read: ${why}.`, fix)];
  }
};
