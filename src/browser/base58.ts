// The library for this is a third of the size of everything else that people must load before they can pay.

/** The Bitcoin alphabet: the digits and letters of ASCII but for 0, O, I and l, which are easily misread. */
const alphabet = String.fromCharCode(...Array(123).keys()).replace(/\W|[_0OIl]/g, '');

export function encodeBase58(bytes: Uint8Array): string {
  let text = '';
  for (let number = readNumber(bytes); number > 0n; number /= 58n) text = alphabet[Number(number % 58n)] + text;
  for (let zeros = 0; bytes[zeros] === 0; zeros += 1) text = `1${text}`;
  return text;
}

/** Bytes as one number, the highest first. */
export function readNumber(bytes: Uint8Array): bigint {
  let number = 0n;
  for (const byte of bytes) number = number * 256n + BigInt(byte);
  return number;
}

/**
 * Reads exactly `length` bytes, in their canonical spelling only.
 * @returns undefined for anything else; longer text is refused before the quadratic decoding
 */
export function decodeBase58(text: unknown, length: number): Uint8Array<ArrayBuffer> | undefined {
  if (typeof text !== 'string' || text.length > length * 2) return undefined;
  let number = 0n;
  for (const character of text) number = number * 58n + BigInt(alphabet.indexOf(character));
  const bytes = new Uint8Array(length);
  for (let index = length; index > 0; number >>= 8n) bytes[--index] = Number(number & 255n);
  // What is not of the alphabet or not of this length is spelt in another way.
  return encodeBase58(bytes) === text ? bytes : undefined;
}
