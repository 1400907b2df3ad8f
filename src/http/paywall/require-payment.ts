import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { ledgerFix } from '../../config/config.js';
import { ConfigError, type ConfigProblem, IntentError, messageOf } from '../../errors.js';
import type { LedgerPayment } from '../../ledger/ledger.js';
import { problemsOfOptions } from '../../reject-unknown.js';
import { requireCalled, requireRouter, setVerified } from '../attached-router.js';
import { isHookRefusal } from '../hook-errors.js';
import { browserHashOf, setMissingCookie } from '../request/browser-cookie.js';
import { isOwnPath, isPageView, notOwnPath } from '../request/page-view.js';
import { sendPage } from '../response/page.js';
import { retryAfter, sendProblemDetails, toProblemDetails } from '../response/problem.js';
import { preventCaching, sendEmpty } from '../response/respond.js';
import { type FoundPayment, findPayment } from './find-payment.js';
import {
  formatRequiredAmount,
  type ParsedRequirement,
  parseRequiredPayment,
  type RequiredPayment,
} from './payment-requirement.js';

/** Options of `requirePayment`. */
export interface RequirePaymentOptions {
  /**
   * A path on this site where visitors can pay for the resource. Page views are redirected there, with their own path as the
   * query parameter `return`; API clients receive 402. That page must validate `return`, because anyone can create such a link.
   */
  readonly payUrl?: string | ((req: Request) => string) | undefined;
}

const exampleCall = "requirePayment({ resource: 'article:tea' })";
const settleWaitMs = 2_000;
/** The interval at which the page of a pending payment reloads. */
const reloadMs = 5_000;

/**
 * Guards a route. Calls next() with `req.intent.payment` if this browser has a settled payment for the resource. Without one:
 *
 * - A page view is redirected to `payUrl`, if that is set.
 * - Any other request gets 402 problem+json with the code `payment_required`, `resource`, `amount`, `currency` and
 *   `pay: { url, mode, order }`, which is absent if the route `intent` is disabled.
 *
 * If the payment is submitted and not settled, the response is 409 with the code `payment_pending` instead: for a page view that
 * would be redirected, a page that reloads; for any other request, problem+json.
 *
 * A cookie identifies the browser. If it is missing, the redirect or the 402 of a GET request sets it. The response to an admitted
 * request has `Cache-Control: private, no-store` unless the app sets another. Without a ledger next() gets an error,
 * `invalid_configuration`.
 * @param required the required payment, or a function that returns it; `refuse()` in it rejects the request, any other error goes
 *   to next()
 * @throws {ConfigError} for an unknown option, or if `payUrl` is not a path on this site
 */
export function requirePayment(
  required: RequiredPayment | ((req: Request) => RequiredPayment | Promise<RequiredPayment>),
  options: RequirePaymentOptions = {},
): RequestHandler {
  requireCalled(required, 'requirePayment', 'a guard', exampleCall);
  const unknown = problemsOfOptions('requirePayment', options, ['payUrl']);
  if (unknown.length > 0) throw new ConfigError(unknown);
  const { payUrl } = options;
  const problems = [...problemsOf(required), ...problemsOfUrl(payUrl)];
  if (problems.length > 0) throw new ConfigError(problems);
  return async function requirePayment(req, res, next) {
    try {
      const requirement = parseRequiredPayment(typeof required === 'function' ? await required(req) : required);
      const { paid, pending } = await searchPayment(requirement, req, res);
      if (paid) {
        setVerified(req, { payment: paid });
        preventCaching(res);
        return next();
      }
      // A timeout middleware of the app has answered.
      if (res.headersSent) return;
      if (pending) return sendPaymentPending(pending, payUrl !== undefined, req, res);
      // Before the payment: two concurrent first payments would each set a cookie, and only one could open the page.
      setMissingCookie(requireRouter(req).context.browserCookie, req, res);
      if (payUrl !== undefined && isPageView(req)) return redirectToPay(payUrl, req, res);
      sendPaymentRequired(requirement, req, res);
    } catch (error) {
      reject(error, res, next);
    }
  };
}

/** Never throws: Express 4 ignores the promise of the guard, so a rejection would end the process. */
function reject(error: unknown, res: Response, next: NextFunction): void {
  try {
    if (!isClientError(error)) next(error);
    else if (!res.headersSent) sendProblemDetails(res, toProblemDetails(error), retryAfter(error));
  } catch (failure) {
    next(failure);
  }
}

/** An error of the caller. All other errors go to the app's error handler. */
function isClientError(error: unknown): boolean {
  return (
    isHookRefusal(error) || (error instanceof IntentError && ['invalid_request', 'rate_limited'].includes(error.code))
  );
}

async function searchPayment(requirement: ParsedRequirement, req: Request, res: Response): Promise<FoundPayment> {
  const { context, countStatus } = requireRouter(req);
  const { ledger, statusCache, browserCookie } = context;
  if (!ledger) {
    throw new IntentError('invalid_configuration', `requirePayment requires a ledger. Set ${ledgerFix()}.`);
  }
  const browser = browserHashOf(browserCookie, req);
  if (!browser) return { paid: undefined, pending: undefined };
  // A page view can cause a call to the service, so it counts against the limit of the status route.
  const beforeCall = (): Promise<void> => countStatus(req, res);
  return findPayment({ ledger, statusCache, browser, requirement, settleWaitMs, beforeCall });
}

/** The payer must not pay again. */
function sendPaymentPending({ id }: LedgerPayment, redirectsViews: boolean, req: Request, res: Response): void {
  const message =
    'Your payment is being processed. Do not pay again. If this takes more than a few minutes, contact the site and ' +
    `mention payment ${id}.`;
  const error = new IntentError('payment_pending', message, { retryAfterMs: reloadMs });
  const headers = retryAfter(error);
  if (redirectsViews && isPageView(req)) sendPendingPage(id, headers, req, res);
  else sendProblemDetails(res, toProblemDetails(error), headers);
}

function sendPendingPage(id: string, headers: Readonly<Record<string, string>>, req: Request, res: Response): void {
  sendPage(req, res, requireRouter(req).context.config.button, {
    status: 409,
    headers: { ...headers, Refresh: headers['Retry-After'] ?? '' },
    write: ({ pending, pendingText, pendingHelp }) => ({
      title: pending,
      body: `<p>${pendingText}</p>\n<p class="more">${pendingHelp.replace('{id}', `<code>${id}</code>`)}</p>`,
    }),
  });
}

function sendPaymentRequired(requirement: ParsedRequirement, req: Request, res: Response): void {
  const { resource, currency, order } = requirement;
  const pay = paymentRoute(req, order);
  const message = pay
    ? "To pay, POST `mode` and `order` of `pay` as JSON to its `url`, with the site's Origin. Pay the intent in a wallet. Then " +
      'repeat this request with the cookie that the POST response sets.'
    : 'Pay on a page of this site. Then repeat this request.';
  const members = { pay, resource, amount: formatRequiredAmount(requirement), currency };
  sendProblemDetails(res, { ...toProblemDetails(new IntentError('payment_required', message)), ...members });
}

/** Undefined if the route that creates intents is disabled. */
function paymentRoute(req: Request, order: unknown): object | undefined {
  const { context, baseUrl } = requireRouter(req);
  const { intent } = context.config.routes;
  return intent === false ? undefined : { url: `${baseUrl}${intent}`, mode: 'payment', order };
}

/** Redirects a page view to pay. @throws {IntentError} `invalid_configuration` if `payUrl` returns no path on this site */
function redirectToPay(payUrl: string | ((req: Request) => string), req: Request, res: Response): void {
  const path = typeof payUrl === 'string' ? payUrl : payUrl(req);
  if (!isOwnPath(path))
    throw new IntentError(
      'invalid_configuration',
      'payUrl must be a path on this site, in ASCII without spaces, such as /buy.',
    );
  sendEmpty(res, 303, { Location: withReturn(path, req.originalUrl) });
}

/** Adds the query parameter `return`, unless the request line contains another site's URL. */
function withReturn(path: string, from: string): string {
  if (!isOwnPath(from)) return path;
  const [beforeFragment = '', ...fragment] = path.split(/(?=#)/);
  const separator = beforeFragment.includes('?') ? '&' : '?';
  return `${beforeFragment}${separator}return=${encodeURIComponent(from)}${fragment.join('')}`;
}

function problemsOf(required: unknown): ConfigProblem[] {
  if (typeof required === 'function') return [];
  try {
    parseRequiredPayment(required as RequiredPayment);
    return [];
  } catch (error) {
    return [{ setting: 'requirePayment', problem: messageOf(error), fix: exampleCall }];
  }
}

function problemsOfUrl(payUrl: unknown) {
  if (payUrl === undefined || typeof payUrl === 'function' || isOwnPath(payUrl)) return [];
  const fix = "requirePayment(required, { payUrl: '/buy' })";
  return [{ setting: 'payUrl', problem: notOwnPath, fix }];
}
