import bs58 from 'bs58';

// What is secret here is known by its form, so that it is found wherever it turns up, whoever has made it, and without
// anybody having to say so beforehand.

/** A secret of a test begins with this; it is no secret of anybody's, and found in every text that has it. */
const canaryMark = 'secret-canary';

/** A secret that tests give to the product: at least 32 characters, none of which need be quoted in a URL. */
export const canaryOf = (name: string): string => `${canaryMark}-${name}-${'0'.repeat(Math.max(0, 18 - name.length))}`;

/** The verifier's seed of the tests: 32 bytes that count from 0. Its public key is no secret. */
const seed = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
const writtenSeeds = [
  bs58.encode(seed),
  ...(['hex', 'base64', 'base64url'] as const).map((form) => seed.toString(form)),
];

/** The forms. Each matches what may nowhere be shown but where `allowed` has taken it out. */
const forms: readonly (readonly [name: string, find: (text: string) => readonly string[]])[] = [
  ['a client secret', clientSecretsIn],
  ['the token of a cookie', matches(/\bintent=[\w-]{43}(?![\w-])/g)],
  ['a sealed session', matches(/\beyJhbGciOiJkaXIi[\w-]*\.\.[\w-]+\.[\w-]+\.[\w-]+/g)],
  // In the line that mends a configuration stands the word itself.
  ['the password of a database', matches(/\bpostgres(?:ql)?:\/\/[^\s:@/]*:(?!password@)[^\s@/]+@/g)],
  ['a private key', matches(/-----BEGIN [A-Z ]*PRIVATE KEY|"d" ?: ?"[\w-]{43}"/g)],
  ['the verifier secret', (text) => writtenSeeds.filter((written) => text.includes(written))],
  ['the secret of a test', matches(new RegExp(`${canaryMark}[\\w-]*`, 'g'))],
];

/** The secrets in a text, each with what it is. */
export function secretsIn(text: string): string[] {
  return forms.flatMap(([name, find]) => find(text).map((secret) => `${name}: ${secret}`));
}

function matches(pattern: RegExp): (text: string) => string[] {
  return (text) => [...text.matchAll(pattern)].map(([found]) => found);
}

/** Base58 of 20 bytes whose kind, currency and amount make sense: by chance one word of that length in thousands of millions. */
function clientSecretsIn(text: string): string[] {
  const words = text.matchAll(/(?<![\w+/=-])[1-9A-HJ-NP-Za-km-z]{26,28}(?![\w+/=-])/g);
  return [...words].map(([word]) => word).filter((word) => isPayload(bs58.decode(word)));
}

function isPayload(bytes: Uint8Array): boolean {
  const [kind = 0, currency = 0] = bytes;
  if (bytes.length !== 20 || bytes.subarray(6, 9).some((byte) => byte !== 0)) return false;
  return kind === 2 ? currency < 160 : kind === 3 && bytes.subarray(1, 9).every((byte) => byte === 0);
}
