import type { Request, RequestHandler, Response } from 'express';
import { howToGetLedger } from '../../config/config.js';
import { ConfigError, IntentError } from '../../errors.js';
import { problemsOfOptions } from '../../known-names.js';
import type { Payment } from '../../ledger/payment.js';
import { requireRouter } from '../attached-router.js';
import { browserHashOf } from '../request/browser-cookie.js';
import { isOwnPath, isPageView } from '../request/origin-guard.js';
import { answerProblem, isHookRefusal, retryAfter, toProblemDetails } from '../response/problem.js';
import { keepPrivate, sendEmpty } from '../response/respond.js';
import { findPayment } from './find-payment.js';
import {
  formatDemandedAmount,
  type PaymentDemand,
  parseRequiredPayment,
  type RequiredPayment,
} from './payment-demand.js';

declare global {
  namespace Express {
    interface Request {
      /** The payment of this browser for the route; set by `requirePayment()`, absent on routes without it. */
      payment?: Payment;
    }
  }
}

/** Options of `requirePayment`. */
export interface RequirePaymentOptions {
  /**
   * A path of this site where the resource can be paid for. Page views are redirected there, with their own path as the query
   * parameter `return`; programs get 402. That page must check `return`, since anybody can write such a link.
   */
  readonly payUrl?: string | ((req: Request) => string) | undefined;
}

/** How long a payment that was submitted is given to settle. */
const settleWaitMs = 2_000;

/**
 * Guards a route: next() with `req.payment` when this browser has a settled payment for the resource, else 402 problem+json
 * (code `payment_required`), whose members `pay: { url, mode, order }`, `resource`, `amount` and `currency` say what to pay
 * and where; or a redirect to `payUrl` for a page view. The browser is recognized by its cookie. Needs a ledger, without which
 * it fails with `invalid_configuration`. The answer of the route gets `Cache-Control: private, no-store` unless the app sets
 * another.
 * @param required returns what has to be paid for; `refuse()` in it refuses the request with a problem, as in every hook, and
 *   any other error goes to next()
 * @throws {ConfigError} for an unknown option, or a `payUrl` that is not a path of this site
 */
export function requirePayment(
  required: (req: Request) => RequiredPayment | Promise<RequiredPayment>,
  options: RequirePaymentOptions = {},
): RequestHandler {
  const unknown = problemsOfOptions('requirePayment', options, ['payUrl']);
  if (unknown.length > 0) throw new ConfigError(unknown);
  const { payUrl } = options;
  const problems = [...problemsOf(required), ...problemsOfUrl(payUrl)];
  if (problems.length > 0) throw new ConfigError(problems);
  return async function requirePayment(req, res, next) {
    try {
      const demand = parseRequiredPayment(await required(req));
      const payment = await paymentOf(demand, req, res);
      if (payment) req.payment = payment;
      else if (payUrl !== undefined && isPageView(req)) return redirectToPay(payUrl, req, res);
      else return answerPaymentRequired(demand, req, res);
    } catch (error) {
      if (res.headersSent || !isAnswerable(error)) return next(error);
      return answerProblem(res, toProblemDetails(error), retryAfter(error));
    }
    keepPrivate(res);
    next();
  };
}

/** A refusal of the site, or a fault of the visitor. The error handler of the app gets every other error. */
function isAnswerable(error: unknown): boolean {
  return (
    isHookRefusal(error) || (error instanceof IntentError && ['invalid_request', 'rate_limited'].includes(error.code))
  );
}

async function paymentOf(demand: PaymentDemand, req: Request, res: Response): Promise<Payment | undefined> {
  const { context, countStatus } = requireRouter(req);
  const { ledger, statusCache, browserCookie } = context;
  if (!ledger) {
    throw new IntentError('invalid_configuration', `requirePayment needs a ledger: ${howToGetLedger()}.`);
  }
  const browser = browserHashOf(browserCookie, req);
  // A page view can cause a call to the service, so it counts like a request for a status.
  const beforeCall = (): Promise<void> | undefined => countStatus(req, res);
  return browser && findPayment({ ledger, statusCache, browser, demand, settleWaitMs, beforeCall });
}

/** Answers 402 with what to pay, and where. */
function answerPaymentRequired(demand: PaymentDemand, req: Request, res: Response): void {
  const message = 'Pay: POST the mode and the order to pay.url, then ask again.';
  const { resource, currency, order } = demand;
  const members = { pay: paymentRoute(req, order), resource, amount: formatDemandedAmount(demand), currency };
  answerProblem(res, { ...toProblemDetails(new IntentError('payment_required', message)), ...members });
}

/** Undefined where the route that creates intents is switched off. */
function paymentRoute(req: Request, order: unknown): object | undefined {
  const { context, baseUrl } = requireRouter(req);
  const { intent } = context.config.routes;
  return intent === false ? undefined : { url: `${baseUrl}${intent}`, mode: 'payment', order };
}

/**
 * Redirects a page view to the page where it can be paid for.
 * @throws {IntentError} `invalid_configuration` when `payUrl` returns what is not a path of this site
 */
function redirectToPay(payUrl: string | ((req: Request) => string), req: Request, res: Response): void {
  const path = typeof payUrl === 'string' ? payUrl : payUrl(req);
  if (!isOwnPath(path)) throw new IntentError('invalid_configuration', 'payUrl is not a path of this site.');
  sendEmpty(res, 303, { Location: withReturn(path, req.originalUrl) });
}

/** Adds the query parameter `return`, unless the request line names another site, as it may. */
function withReturn(path: string, from: string): string {
  if (!isOwnPath(from)) return path;
  const [beforeFragment = '', ...fragment] = path.split(/(?=#)/);
  const separator = beforeFragment.includes('?') ? '&' : '?';
  return `${beforeFragment}${separator}return=${encodeURIComponent(from)}${fragment.join('')}`;
}

function problemsOf(required: unknown) {
  if (typeof required === 'function') return [];
  const fix = "requirePayment((req) => ({ resource: 'article:tea' }))";
  return [{ setting: 'requirePayment', problem: 'Its first argument is not a function.', fix }];
}

function problemsOfUrl(payUrl: unknown) {
  if (payUrl === undefined || typeof payUrl === 'function' || isOwnPath(payUrl)) return [];
  const fix = "requirePayment(required, { payUrl: '/buy' })";
  return [{ setting: 'payUrl', problem: 'It is not a path of this site.', fix }];
}
