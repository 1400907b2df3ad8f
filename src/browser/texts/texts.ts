import { isFinalRefusal, type Problem } from '../flow/api.js';
import type { Texts } from './en.js';

/** The text for a problem code. A code that is not listed is described by its HTTP status. */
export const textsByCode: ReadonlyMap<string, keyof Texts> = new Map<string, keyof Texts>([
  ['offline', 'unreachable'],
  ['insecure_page', 'insecure'],
  ['cookies_blocked', 'cookies'],
  ['not_supported', 'refused'],
  ['request_refused', 'refused'],
  ['intent_refused', 'refused'],
  ['sequencer_error', 'refused'],
  ['intent_not_found', 'gone'],
  ['invalid_amount', 'amount'],
  ['amount_too_small', 'amount'],
  ['amount_too_large', 'amount'],
  ['unknown_currency', 'amount'],
  ['sequencer_bad_status', 'service'],
  ['sequencer_bad_response', 'service'],
  ['sequencer_unreachable', 'service'],
  ['sequencer_unavailable', 'service'],
  ['sequencer_timeout', 'service'],
]);

/** The text for a problem; for a refusal, the site's own. */
export function problemText(problem: Problem, texts: Texts): string {
  const { code, message } = problem;
  if (code === 'request_refused' && message !== code) return message;
  return texts[textsByCode.get(code) ?? (isFinalRefusal(problem) ? 'refused' : 'otherwise')];
}

/** The text while the completion of a login is being retried. */
export function retryText(problem: Problem, texts: Texts): string {
  const { code, status } = problem;
  if (code.startsWith('sequencer_')) return texts.silent;
  if (status === 0) return texts.noAnswer;
  return status >= 500 ? texts.failing : texts.completing;
}
