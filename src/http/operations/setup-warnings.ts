import { isIP } from 'node:net';
import type { Request } from 'express';
import { isLoopback, parseUrl } from '../../net/url.js';
import { rateLimitKey, unreadableAddress } from '../limits/rate-limit-key.js';
import type { RouterContext } from '../router-context.js';
import { cannotRegenerate } from '../session/app-session.js';
import { isProxied } from './proxy-report.js';

/** @param baseUrl of the request */
export type SetupCheck = (req: Request, baseUrl: string) => void;
type Config = RouterContext['config'];

/** A request, and the members that most warnings need: each access to a request of Express takes up to half a microsecond. */
interface Visit {
  readonly req: Request;
  readonly baseUrl: string;
  readonly headers: Request['headers'];
}

interface Warning {
  readonly level?: 'error';
  /** Whether a site with this configuration can need it. Otherwise no request is checked. */
  readonly isRelevant?: (config: Config) => boolean;
  readonly applies: (visit: Visit, config: Config) => boolean;
  readonly text: (req: Request) => string;
}

const underPrefix: Warning = {
  isRelevant: ({ login, routes }) => login !== undefined && routes.keyFile !== false,
  // Under a wildcard the path is always `/`.
  applies: ({ req, baseUrl }) => baseUrl !== '' && req.path !== '/',
  text: (req) =>
    `The router is mounted under ${JSON.stringify(req.baseUrl)}. Unless the site serves the key file at its root, wallets cannot ` +
    'find it: it must be at the root of the domain. Call app.use(intentRouter()) without a path, or add ' +
    "app.get('/.well-known/service-payments.json', router). To rename routes, use the option `routes`.",
};

/** Under a wildcard, Express takes the whole path of a request as the mount path. */
function isRouteMountPath({ req, baseUrl }: Visit, { routes }: Config): boolean {
  if (baseUrl === '' || req.path !== '/') return false;
  return Object.values(routes).some((route) => route && `${baseUrl}/`.includes(`${route}/`));
}

const underWildcard: Warning = {
  applies: isRouteMountPath,
  text: (req) =>
    `The route ${JSON.stringify(req.baseUrl)} was not found, because the router is mounted under a wildcard or under this path. ` +
    'Call app.use(router) without a path.',
};

const plainHttp: Warning = {
  isRelevant: ({ production }) => production,
  applies: ({ req }) => !req.secure && !isFromThisMachine(req),
  text: () =>
    'A request arrived over http in production. Behind a proxy that terminates TLS, configure the proxy to send X-Forwarded-Proto, ' +
    "and call app.set('trust proxy', 1). Without a proxy, serve the site over https: browsers reject its cookies over http.",
};

/** Whether a program or browser on this machine calls the site directly, such as a health check. */
function isFromThisMachine(req: Request): boolean {
  if (isProxied(req)) return false;
  const { socket, headers } = req;
  // A proxy on this machine may send its own `Host`; the address bar is then in `Origin` and `Referer`.
  const urls = [`http://${headers.host}`, headers.origin, headers.referer].filter((url) => url !== undefined);
  const peer = socket.remoteAddress?.replace(/^::ffff:/, '') ?? '';
  return isLoopback(peer) && urls.every((url) => isLoopback(parseUrl(url)?.hostname ?? ''));
}

const unknownProxy: Warning = {
  isRelevant: ({ production }) => production,
  applies: ({ req, headers }) => headers['x-forwarded-for'] !== undefined && !req.app.get('trust proxy'),
  text: () =>
    "A request has X-Forwarded-For, but 'trust proxy' is not set. Behind a proxy, all visitors then share one rate limit. Call " +
    "app.set('trust proxy', 1), where 1 is the number of proxies. Without a proxy, ignore this warning.",
};

const anyProxy: Warning = {
  isRelevant: ({ production }) => production,
  applies: ({ req }) => req.app.get('trust proxy') === true,
  text: () =>
    "'trust proxy' is true. Unless the first proxy overwrites X-Forwarded-For, a client can claim any address and evade " +
    "limits. Set it to the number of proxies: app.set('trust proxy', 1).",
};

const unreadableVisitor: Warning = {
  // The address of a connection is readable.
  applies: ({ req, headers }) => headers['x-forwarded-for'] !== undefined && isUnreadable(req.ip),
  text: () =>
    'The address of a request is not an IP address. All such visitors share one rate limit. Configure the proxy to write the ' +
    "visitor's address to X-Forwarded-For, and set 'trust proxy' to the number of proxies.",
};

const isUnreadable = (ip: string | undefined): boolean =>
  ip !== undefined && isIP(ip) === 0 && rateLimitKey(ip).address === unreadableAddress;

/** Checks the first session only: with cookie-session each check costs a signature. */
function nonRegenerableSession(): Warning {
  let isChecked = false;
  return {
    level: 'error',
    isRelevant: ({ login }) => login !== undefined,
    applies: ({ req }) => {
      if (isChecked || !(req as { session?: unknown }).session) return false;
      isChecked = true;
      return cannotRegenerate(req);
    },
    text: () =>
      "The app's req.session cannot be regenerated. A login in it would allow session fixation, so logins are rejected. Use " +
      'express-session or cookie-session, or mount the router before the session: it then stores logins in its own cookie.',
  };
}

/** Logs setup errors that only a request can reveal, once each. */
export function setupWarnings(context: RouterContext): SetupCheck {
  const all = [
    underPrefix,
    underWildcard,
    plainHttp,
    unknownProxy,
    anyProxy,
    unreadableVisitor,
    nonRegenerableSession(),
  ];
  const pending = new Set(all.filter(({ isRelevant }) => isRelevant?.(context.config) ?? true));
  return (req, baseUrl) => {
    const visit = { req, baseUrl, headers: req.headers };
    for (const warning of pending) {
      if (!warning.applies(visit, context.config)) continue;
      pending.delete(warning);
      context.logger[warning.level ?? 'warn'](`express-intents: ${warning.text(req)}`);
    }
  };
}
