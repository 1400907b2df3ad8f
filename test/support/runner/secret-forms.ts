import bs58 from 'bs58';

// Secrets are recognized by their form, wherever they appear and whatever created them.

/** The prefix of test secrets, by which they are found in every text. */
const canaryMark = 'secret-canary';

/** A secret that tests pass to the product: at least 32 characters, URL-safe. */
export const canaryOf = (name: string): string => `${canaryMark}-${name}-${'0'.repeat(Math.max(0, 18 - name.length))}`;

/** The verifier seed of the tests: the bytes 0 to 31. Its public key is not secret. */
const seed = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
const writtenSeeds = [
  bs58.encode(seed),
  ...(['hex', 'base64', 'base64url'] as const).map((form) => seed.toString(form)),
];

/** The forms of secrets, which may appear only where `allowed` removes them. */
const forms: readonly (readonly [name: string, find: (text: string) => readonly string[]])[] = [
  ['a client secret', clientSecretsIn],
  ['the token of a cookie', matches(/\bintent=[\w-]{43}(?![\w-])/g)],
  ['a sealed session', matches(/\beyJhbGciOiJkaXIi[\w-]*\.\.[\w-]+\.[\w-]+\.[\w-]+/g)],
  // The fix of a configuration error contains the word itself.
  ['the password of a database', matches(/\bpostgres(?:ql)?:\/\/[^\s:@/]*:(?!password@)[^\s@/]+@/g)],
  ['a private key', matches(/-----BEGIN [A-Z ]*PRIVATE KEY|"d" ?: ?"[\w-]{43}"/g)],
  ['the verifier secret', (text) => writtenSeeds.filter((written) => text.includes(written))],
  ['the secret of a test', matches(new RegExp(`${canaryMark}[\\w-]*`, 'g'))],
];

/** The secrets in a text, each with its kind. */
export function secretsIn(text: string): string[] {
  return forms.flatMap(([name, find]) => find(text).map((secret) => `${name}: ${secret}`));
}

function matches(pattern: RegExp): (text: string) => string[] {
  return (text) => [...text.matchAll(pattern)].map(([found]) => found);
}

/** Base58 of 20 bytes with a valid kind, currency and amount. A random word has this form once in billions. */
function clientSecretsIn(text: string): string[] {
  const words = text.matchAll(/(?<![\w+/=-])[1-9A-HJ-NP-Za-km-z]{26,28}(?![\w+/=-])/g);
  return [...words].map(([word]) => word).filter((word) => isPayload(bs58.decode(word)));
}

function isPayload(bytes: Uint8Array): boolean {
  const [kind = 0, currency = 0] = bytes;
  if (bytes.length !== 20 || bytes.subarray(6, 9).some((byte) => byte !== 0)) return false;
  return kind === 2 ? currency < 160 : kind === 3 && bytes.subarray(1, 9).every((byte) => byte === 0);
}
