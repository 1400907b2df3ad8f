import { isIP } from 'node:net';
import type { Request } from 'express';
import { rateLimitKey, unreadableAddress } from '../limits/rate-limit-key.js';
import type { RouterContext } from '../router-context.js';
import { isUnrenewable } from '../session/app-session.js';

/** Inspects each request until every warning was logged. */
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
    `The router is mounted under ${JSON.stringify(req.baseUrl)}, where wallets do not find the verifier key file: it must be ` +
    'at the root of the domain. Use app.use(intentRouter()) without a path; rename routes with the option `routes`.',
};

const plainHttp: Warning = {
  applies: (req, { config }) => config.production && !req.secure,
  text: () =>
    'A request came over http, and NODE_ENV is production. Browsers then keep no cookie, and no visitor can log in. Behind ' +
    "a proxy that terminates TLS, set app.set('trust proxy', 1).",
};

const unknownProxy: Warning = {
  applies: ({ app, headers }, { config }) =>
    config.production && headers['x-forwarded-for'] !== undefined && !app.get('trust proxy'),
  text: () =>
    "A request has X-Forwarded-For, and 'trust proxy' is not set. Behind a proxy all visitors then count as one, and soon " +
    "reach the rate limit. Set app.set('trust proxy', 1), with the number of proxies. Without a proxy, ignore this.",
};

const anyProxy: Warning = {
  applies: ({ app }, { config }) => config.production && app.get('trust proxy') === true,
  text: () =>
    "'trust proxy' is true, so a client can claim any address, and no limit by address works. Set it to the number of " +
    "proxies: app.set('trust proxy', 1).",
};

const unreadableVisitor: Warning = {
  applies: ({ ip }) => ip !== undefined && isIP(ip) === 0 && rateLimitKey(ip).address === unreadableAddress,
  text: () =>
    'A request came from an address that is not an IP address. All such visitors share one rate limit. Let the proxy write ' +
    "the address of the visitor into X-Forwarded-For, and set 'trust proxy' to the number of proxies.",
};

/** Checks the first session only: with cookie-session each check costs a signature. */
function unrenewableSession(): Warning {
  let isChecked = false;
  return {
    level: 'error',
    applies: (req, { config }) => {
      if (isChecked || !config.login || !(req as { session?: unknown }).session) return false;
      isChecked = true;
      return isUnrenewable(req);
    },
    text: () =>
      'The req.session of the app cannot be renewed. A login in it could be fixated, so logins are refused. Use ' +
      'express-session or cookie-session, or mount the router before the session: it then keeps logins in its own cookie.',
  };
}

/** Logs, once each, the errors around the router that only a request can show. */
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
