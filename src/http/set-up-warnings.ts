import type { Request } from 'express';
import type { RouterContext } from './router-context.js';

/** Looks at requests until it has told what only a request can show to be wrong. */
export type SetUpCheck = (req: Request) => void;

/** Warns, once each, of a router under a prefix and of https that got lost on the way. */
export function setUpWarnings({ config, logger }: RouterContext): SetUpCheck {
  const isUnderPrefix = (req: Request): boolean =>
    req.baseUrl !== '' && !!config.login && config.routes.keyFile !== false;
  const isPlainHttp = (req: Request): boolean => config.production && !req.secure;
  const warnings = [
    {
      applies: isUnderPrefix,
      text: (req: Request) =>
        `The router is mounted under ${JSON.stringify(req.baseUrl)}, so wallets do not find the verifier key file: it must be at ` +
        'the root of the domain. Use app.use(intentRouter()) without a path; rename routes with the option `routes`.',
    },
    {
      applies: isPlainHttp,
      text: () =>
        "A request came over http, and NODE_ENV is production. Behind a proxy that ends TLS, set app.set('trust proxy', 1); " +
        'without https browsers keep none of the cookies, and nobody can log in.',
    },
  ];
  const pending = new Set(warnings);
  return (req) => {
    for (const warning of pending) {
      if (!warning.applies(req)) continue;
      pending.delete(warning);
      logger.warn(`express-intents: ${warning.text(req)}`);
    }
  };
}
