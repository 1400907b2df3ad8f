import { attempt } from '../validation.js';

const isSupported = /^(en|de|es|fr|ja)\b/;

/** The first of the wanted locales whose language is supported, else English. */
export function negotiateTag(wanted: readonly (string | null | undefined)[]): string {
  return wanted.map(canonicalTag).find((tag) => isSupported.test(tag as string)) ?? 'en';
}

export const languageOf = (tag: string): string => tag.split('-')[0] as string;

const canonicalTag = (text: string | null | undefined): string | undefined =>
  attempt(() => `${new Intl.Locale(text ?? '')}`);
