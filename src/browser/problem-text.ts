import type { Problem } from './problem.js';
import type { Texts } from './texts/en.js';

/** The codes that each sentence is for. */
const codes: Partial<Record<keyof Texts, string>> = {
  unreachable: 'offline',
  insecure: 'insecure_page',
  reload: 'cross_site_request',
  refused: 'not_supported request_refused',
  over: 'intent_not_found',
  amount: 'invalid_amount amount_too_small amount_too_large unknown_currency',
  service: 'too_busy too_many_connections login_pending',
};

/** The sentence for a problem. A refusal of the site has words of its own. */
export function problemText({ code, message }: Problem, texts: Texts): string {
  if (code === 'request_refused' && message !== code) return message;
  const found = Object.entries(codes).find(([, list]) => list.split(' ').includes(code));
  const key = found?.[0] ?? (code.startsWith('sequencer_') ? 'service' : 'otherwise');
  return texts[key as keyof Texts];
}
