import { isFinalRefusal, type Problem } from '../flow/api.js';
import { languageOf } from './button-texts.js';
import { de } from './de.js';
import { en, type Texts } from './en.js';
import { es } from './es.js';
import { fr } from './fr.js';
import { ja } from './ja.js';

const textsByLanguage: Readonly<Record<string, Texts>> = { en, de, es, fr, ja };

/** The texts of the dialog in the language of a supported tag. */
export const textsOf = (tag: string): Texts => textsByLanguage[languageOf(tag)] ?? en;

/** The problem codes for which each text is displayed. */
const problemCodes: Partial<Record<keyof Texts, RegExp>> = {
  unreachable: /offline/,
  insecure: /insecure/,
  refused: /not_supported|refused|sequencer_error/,
  gone: /not_found/,
  amount: /amount|currency/,
  service: /sequencer/,
};

/** The text for a problem; for a refusal, the site's own. */
export function problemText(problem: Problem, texts: Texts): string {
  const { code, message } = problem;
  if (code === 'request_refused' && message !== code) return message;
  const known = Object.entries(problemCodes).find(([, pattern]) => pattern.test(code));
  const [key] = known ?? [isFinalRefusal(problem) ? 'refused' : 'otherwise'];
  return texts[key as keyof Texts];
}

/** The text while the completion of a login is being retried. */
export function retryText({ code, status }: Problem, texts: Texts): string {
  if (/^sequencer/.test(code)) return texts.silent;
  if (!status) return texts.noAnswer;
  return status > 499 ? texts.failing : texts.completing;
}
