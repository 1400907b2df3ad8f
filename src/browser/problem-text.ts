import type { Problem } from './problem.js';
import type { Texts } from './texts/en.js';

/** The codes that each sentence is for. */
const codes: Partial<Record<keyof Texts, RegExp>> = {
  unreachable: /offline/,
  insecure: /insecure/,
  reload: /cross_site/,
  refused: /not_supported|refused/,
  over: /not_found/,
  amount: /amount|currency/,
  service: /sequencer|^too_|pending/,
};

/** The sentence for a problem. A refusal of the site has words of its own. */
export function problemText({ code, message }: Problem, texts: Texts): string {
  if (code === 'request_refused' && message !== code) return message;
  const [key] = Object.entries(codes).find(([, pattern]) => pattern.test(code)) ?? ['otherwise'];
  return texts[key as keyof Texts];
}
