import type { Problem } from '../flow/api.js';
import { delay } from '../flow/retry.js';
import { attempt } from '../validation.js';
import { en, type Texts } from './en.js';

/** A supported language with a region. */
export interface Locale {
  /** BCP 47, such as `de-AT`. The region decides how amounts are written. */
  readonly tag: string;
  readonly texts: Texts;
}

const isSupported = /^(en|de|es|fr|ja)\b/;

/** After this time the dialog opens in English. */
const maxWaitMs = 1_500;

let textsByLanguage: Readonly<Record<string, Texts>> = { en };

/** The first of the wanted locales whose language is supported, else English. */
export function negotiateTag(wanted: readonly (string | null | undefined)[]): string {
  return wanted.map(canonicalTag).find((tag) => isSupported.test(tag as string)) ?? 'en';
}

/** The locale of a tag, or English while its texts are not loaded. */
export function localeOf(tag: string): Locale {
  const texts = textsByLanguage[languageOf(tag)];
  return texts ? { tag, texts } : { tag: 'en', texts: en };
}

/** Resolves when the texts of a tag are loaded or cannot be loaded in time. English is always loaded. */
export async function loadTexts(tag: string): Promise<void> {
  if (textsByLanguage[languageOf(tag)]) return;
  const loading = import('./translations.js').then(
    (translations) => {
      textsByLanguage = { en, ...translations };
    },
    () => undefined,
  );
  await Promise.race([loading, delay(maxWaitMs)]);
}

const languageOf = (tag: string): string => tag.split('-')[0] as string;

const canonicalTag = (text: string | null | undefined): string | undefined =>
  attempt(() => `${new Intl.Locale(text ?? '')}`);

/** The problem codes for which each text is displayed. */
const problemCodes: Partial<Record<keyof Texts, RegExp>> = {
  unreachable: /offline/,
  insecure: /insecure/,
  reload: /cross_site/,
  refused: /not_supported|refused/,
  gone: /not_found/,
  amount: /amount|currency/,
  service: /sequencer/,
};

/** The text for a problem; for a refusal, the site's own. */
export function problemText({ code, message }: Problem, texts: Texts): string {
  if (code === 'request_refused' && message !== code) return message;
  const [key] = Object.entries(problemCodes).find(([, pattern]) => pattern.test(code)) ?? ['otherwise'];
  return texts[key as keyof Texts];
}
