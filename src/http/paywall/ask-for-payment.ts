import type { Request, Response } from 'express';
import { IntentError } from '../../errors.js';
import { requireRouter } from '../attached-router.js';
import { isOwnPath } from '../request/page-view.js';
import { answerProblem, problemOf } from '../response/problem.js';
import { sendEmpty } from '../response/respond.js';
import { amountOf, type PaymentDemand } from './required-payment.js';

/** Answers 402 with what to pay, and where. */
export function askForPayment(demand: PaymentDemand, req: Request, res: Response): void {
  const message = 'Pay: POST the mode and the order to pay.url, then ask again.';
  const { resource, currency, order } = demand;
  const members = { pay: wayToPay(req, order), resource, amount: amountOf(demand), currency };
  answerProblem(res, { ...problemOf(new IntentError('payment_required', message)), ...members });
}

/**
 * Sends a page view to where it can be paid, and tells that page where to come back to.
 * @throws {IntentError} `invalid_configuration` when that is not a path of this site
 */
export function redirectToPay(payUrl: string | ((req: Request) => string), req: Request, res: Response): void {
  const path = typeof payUrl === 'string' ? payUrl : payUrl(req);
  if (!isOwnPath(path)) throw new IntentError('invalid_configuration', 'payUrl is not a path of this site.');
  sendEmpty(res, 303, { Location: withReturn(path, req.originalUrl) });
}

/** Undefined where the route that creates intents is switched off. */
function wayToPay(req: Request, order: unknown): object | undefined {
  const { context, baseUrl } = requireRouter(req);
  const { intent } = context.config.routes;
  return intent === false ? undefined : { url: `${baseUrl}${intent}`, mode: 'payment', order };
}

/** A request can also name another site's address, which is left out. */
function withReturn(path: string, from: string): string {
  if (!isOwnPath(from)) return path;
  const [beforeFragment = '', ...fragment] = path.split(/(?=#)/);
  const separator = beforeFragment.includes('?') ? '&' : '?';
  return `${beforeFragment}${separator}return=${encodeURIComponent(from)}${fragment.join('')}`;
}
