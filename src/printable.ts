/** Characters that end a line, move the cursor or change the direction of text. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Makes outside text safe for one line of a log, a terminal or a file of JSON: escapes such characters as JSON does. */
export const printable = (text: string): string =>
  text.replace(unprintable, (character) => character.split('').map(escapeUnit).join(''));
