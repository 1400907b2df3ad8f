/** The language of a tag (BCP 47), such as `de` of `de-AT`. */
export const languageOf = (tag: string): string => tag.split('-')[0] as string;
