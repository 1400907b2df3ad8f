import { isIP } from 'node:net';
import type { Request } from 'express';
import { rateLimitKey, unreadableAddress } from '../limits/rate-limit-key.js';
import type { RouterContext } from '../router-context.js';
import { isUnrenewable } from '../session/app-session.js';

/** Looks at requests until it has told what only a request can show to be wrong. */
export type SetUpCheck = (req: Request) => void;

interface Warning {
  /** Default `warn`. */
  readonly level?: 'error';
  readonly applies: (req: Request, context: RouterContext) => boolean;
  readonly text: (req: Request) => string;
}

const underPrefix: Warning = {
  applies: (req, { config }) => req.baseUrl !== '' && !!config.login && config.routes.keyFile !== false,
  text: (req) =>
    `The router is mounted under ${JSON.stringify(req.baseUrl)}, so wallets do not find the verifier key file: it must be at ` +
    'the root of the domain. Use app.use(intentRouter()) without a path; rename routes with the option `routes`.',
};

const plainHttp: Warning = {
  applies: (req, { config }) => config.production && !req.secure,
  text: () =>
    "A request came over http, and NODE_ENV is production. Behind a proxy that ends TLS, set app.set('trust proxy', 1); " +
    'without https browsers keep none of the cookies, and nobody can log in.',
};

const unknownProxy: Warning = {
  applies: ({ app, headers }, { config }) =>
    config.production && headers['x-forwarded-for'] !== undefined && !app.get('trust proxy'),
  text: () =>
    "A request came with X-Forwarded-For, and 'trust proxy' is not set. Behind a proxy all visitors then count as one, who " +
    "is soon refused: set app.set('trust proxy', 1), with the number of proxies. Without a proxy this means nothing.",
};

const anyProxy: Warning = {
  applies: ({ app }, { config }) => config.production && app.get('trust proxy') === true,
  text: () =>
    "'trust proxy' is true, so that everybody can name any address, and no limit by address holds. Set it to the number of " +
    "proxies: app.set('trust proxy', 1).",
};

const unreadableVisitor: Warning = {
  applies: ({ ip }) => ip !== undefined && isIP(ip) === 0 && rateLimitKey(ip).address === unreadableAddress,
  text: () =>
    'A request came from something that is not an IP address, so all such visitors share one limit. Have the proxy in front ' +
    "write the address of the visitor into X-Forwarded-For, and set 'trust proxy' to the number of proxies.",
};

/** Looked at once: with cookie-session a look costs a signature. */
function unrenewableSession(): Warning {
  let isSeen = false;
  return {
    level: 'error',
    applies: (req, { config }) => {
      if (isSeen || !config.login || !(req as { session?: unknown }).session) return false;
      isSeen = true;
      return isUnrenewable(req);
    },
    text: () =>
      'The app has a req.session that cannot be renewed, so a login kept in it could be fixated, and logins are refused. Use ' +
      'express-session or cookie-session; or put the router in front of the session, and it keeps logins in a cookie of its own.',
  };
}

/** Warns, once each, of what is wrong around the router. */
export function setUpWarnings(context: RouterContext): SetUpCheck {
  const pending = new Set([underPrefix, plainHttp, unknownProxy, anyProxy, unreadableVisitor, unrenewableSession()]);
  return (req) => {
    for (const warning of pending) {
      if (!warning.applies(req, context)) continue;
      pending.delete(warning);
      context.logger[warning.level ?? 'warn'](`express-intents: ${warning.text(req)}`);
    }
  };
}
