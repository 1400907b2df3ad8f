import type { Request, RequestHandler, Response } from 'express';
import { howToGetLedger } from '../../config/config.js';
import { ConfigError, IntentError } from '../../errors.js';
import type { Payment } from '../../ledger/payment.js';
import { requireRouter } from '../attached-router.js';
import { browserOf } from '../request/browser-cookie.js';
import { isOwnPath, isPageView } from '../request/page-view.js';
import { answerProblem, isRefusal, problemOf, retryAfter } from '../response/problem.js';
import { keepPrivate } from '../response/respond.js';
import { askForPayment, redirectToPay } from './ask-for-payment.js';
import { findPayment } from './find-payment.js';
import { type PaymentDemand, parseRequiredPayment, type RequiredPayment } from './required-payment.js';

declare global {
  namespace Express {
    interface Request {
      /** What this browser has paid for the route; set by `requirePayment()`, absent on routes without it. */
      payment?: Payment;
    }
  }
}

/** What `requirePayment` can be told. */
export interface RequirePaymentOptions {
  /**
   * A path of this site where it can be paid: page views are redirected there, with their own path as the query parameter
   * `return`; programs get 402 all the same. Whoever follows `return` checks it first, since anybody can write such a link.
   */
  readonly payUrl?: string | ((req: Request) => string) | undefined;
}

/** Who has paid a moment ago is not turned away before this, in milliseconds. */
const waitMs = 2_000;

/**
 * Guards a route: next() with `req.payment` when this browser has a settled payment for the resource, else 402 problem+json
 * (code `payment_required`), whose members `pay: { url, mode, order }`, `resource`, `amount` and `currency` tell what to pay
 * and where; or a redirect to `payUrl` for a page view. The browser is known by its cookie. Needs a ledger, without which
 * it fails with `invalid_configuration`. What follows is sent with `Cache-Control: private, no-store`, unless the app says
 * otherwise.
 * @param required what has to be paid for; `refuse()` in it refuses the request with a problem, as in every hook, and
 *   anything else that it throws goes to next()
 * @throws {ConfigError} when `payUrl` is not a path of this site
 */
export function requirePayment(
  required: (req: Request) => RequiredPayment | Promise<RequiredPayment>,
  { payUrl }: RequirePaymentOptions = {},
): RequestHandler {
  const problems = [...problemsOf(required), ...problemsOfUrl(payUrl)];
  if (problems.length > 0) throw new ConfigError(problems);
  return async function requirePayment(req, res, next) {
    try {
      const demand = parseRequiredPayment(await required(req));
      const payment = await paymentOf(demand, req, res);
      if (payment) req.payment = payment;
      else if (payUrl !== undefined && isPageView(req)) return redirectToPay(payUrl, req, res);
      else return askForPayment(demand, req, res);
    } catch (error) {
      if (res.headersSent || !isAnswerable(error)) return next(error);
      return answerProblem(res, problemOf(error), retryAfter(error));
    }
    keepPrivate(res);
    next();
  };
}

/** What the site refuses, and what is the visitor's own fault; the app's error handler gets everything else. */
function isAnswerable(error: unknown): boolean {
  return isRefusal(error) || (error instanceof IntentError && ['invalid_request', 'rate_limited'].includes(error.code));
}

async function paymentOf(demand: PaymentDemand, req: Request, res: Response): Promise<Payment | undefined> {
  const { context, countStatus } = requireRouter(req);
  const { ledger, statusCache, browserCookie } = context;
  if (!ledger) {
    throw new IntentError('invalid_configuration', `requirePayment needs a ledger: ${howToGetLedger()}.`);
  }
  const browser = browserOf(browserCookie, req);
  // Each page view may ask the service, so it counts like a request for a status.
  const beforeAsking = (): Promise<void> | undefined => countStatus(req, res);
  return browser && findPayment({ ledger, statusCache, browser, demand, waitMs, beforeAsking });
}

function problemsOf(required: unknown) {
  if (typeof required === 'function') return [];
  const mend = "requirePayment((req) => ({ resource: 'article:tea' }))";
  return [{ setting: 'requirePayment', problem: 'It was given no function.', mend }];
}

function problemsOfUrl(payUrl: unknown) {
  if (payUrl === undefined || typeof payUrl === 'function' || isOwnPath(payUrl)) return [];
  const mend = "requirePayment(required, { payUrl: '/buy' })";
  return [{ setting: 'payUrl', problem: 'It is not a path of this site.', mend }];
}
