/** What would move the cursor, or turn the text around, when it is printed. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Text of others, fit for a line of a terminal. */
export const printable = (text: string): string => text.replace(unprintable, '\u{FFFD}');

/** JSON that a terminal shows and a program reads: what is not printable is escaped. */
export function printableJson(value: unknown): string {
  const escaped = (text: string): string =>
    text
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('');
  return JSON.stringify(value).replace(unprintable, escaped);
}
