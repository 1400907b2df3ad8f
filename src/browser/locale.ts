import { attempt } from './attempt.js';
import { delay } from './delay.js';
import { en, type Texts } from './texts/en.js';

/** A language the element speaks, and the locale whose way of writing numbers goes with it. */
export interface Locale {
  /** BCP 47, such as `de-AT`. */
  readonly tag: string;
  readonly texts: Texts;
}

const isSpoken = /^(en|de|es|fr|ja)\b/;

/** Only who needs another language than English waits for one; a slow line does not keep anyone from paying. */
const longestWaitMs = 1_500;

let textsByLanguage: Readonly<Record<string, Texts>> = { en };

/** The first of the wanted locales whose language there is, else English. A region is kept: it decides how amounts look. */
export function negotiateTag(wanted: readonly (string | null | undefined)[]): string {
  return wanted.map(canonical).find((tag) => isSpoken.test(tag)) ?? 'en';
}

/** The texts for a locale as far as they are there. */
export function localeOf(tag: string): Locale {
  const texts = textsByLanguage[languageOf(tag)];
  return texts ? { tag, texts } : { tag: 'en', texts: en };
}

/** Resolves when the texts for a locale are there, or will not be. */
export async function loadTexts(tag: string): Promise<void> {
  if (textsByLanguage[languageOf(tag)]) return;
  const loading = import('./translations.js').then(
    (translations) => {
      textsByLanguage = { en, ...translations };
    },
    // English will do.
    () => undefined,
  );
  await Promise.race([loading, delay(longestWaitMs)]);
}

const languageOf = (tag: string): string => tag.split('-')[0] as string;

const canonical = (text: string | null | undefined): string => attempt(() => `${new Intl.Locale(text ?? '')}`) ?? '';
