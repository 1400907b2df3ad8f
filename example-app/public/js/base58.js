/** The Bitcoin alphabet: no 0, O, I or l, which are easily misread. */
const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/**
 * @param {Uint8Array} bytes
 * @returns {string}
 */
export function encodeBase58(bytes) {
  let number = bytes.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  let text = '';
  for (; number > 0n; number /= 58n) text = alphabet[Number(number % 58n)] + text;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return '1'.repeat(zeros === -1 ? bytes.length : zeros) + text;
}

/**
 * @param {string} text
 * @returns {Uint8Array}
 */
export function decodeBase58(text) {
  let number = 0n;
  for (const character of text) {
    const digit = alphabet.indexOf(character);
    if (digit === -1) throw new TypeError('This is not Base58.');
    number = number * 58n + BigInt(digit);
  }
  const bytes = [];
  for (; number > 0n; number /= 256n) bytes.unshift(Number(number % 256n));
  const zeros = text.match(/^1*/)?.[0].length ?? 0;
  return new Uint8Array([...new Array(zeros).fill(0), ...bytes]);
}
