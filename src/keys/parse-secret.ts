import { IntentError } from '../errors.js';
import { parseBase58 } from './base58.js';
import { keyPairFromSeed } from './ed25519.js';

/**
 * Parses a list of Ed25519 secrets, separated by commas or white space.
 *
 * Each secret is Base58 or hex of 32 bytes (a seed) or 64 bytes (a seed and its public key), or a JSON array of 64 numbers.
 * @returns the seeds, 32 bytes each
 * @throws {IntentError} `invalid_key`; the message contains the position in the list, never the text
 */
export function parseSecrets(text: string): Uint8Array[] {
  // For example an environment variable that is not set.
  if (typeof text !== 'string') {
    throw new IntentError(
      'invalid_key',
      'The secret is not a string. Use a secret that `npx express-intents keygen` prints.',
    );
  }
  const entries = splitSecrets(text);
  return entries.map((entry, index) => parseSecret(entry, `Entry ${index + 1} of ${entries.length}`));
}

/** The entries of a list of secrets, unparsed. */
export function splitSecrets(text: string): string[] {
  // A JSON array contains commas, so an entry is either a pair of brackets with its content or a text without separators.
  return text.match(/\[[^\]]*\]?|[^\s,[]+/g) ?? [];
}

function parseSecret(entry: string, label: string): Uint8Array {
  const bytes = readHex(entry) ?? readJsonArray(entry) ?? readBase58(entry);
  if (!bytes) {
    const problem = /^[A-Z_]+=./.test(entry)
      ? 'begins with the name of a variable: remove the name and the = sign.'
      : 'is not a secret key: expected Base58 or hex of 32 or 64 bytes, or a JSON array of 64 numbers.';
    throw new IntentError('invalid_key', `${label} ${problem}`);
  }
  const seed = bytes.subarray(0, 32);
  if (bytes.length === 64 && Buffer.compare(keyPairFromSeed(seed).publicKey, bytes.subarray(32)) !== 0) {
    throw new IntentError(
      'invalid_key',
      `${label}: the public key in its second half does not match the seed. Copy the whole secret again.`,
    );
  }
  return seed;
}

function readHex(entry: string): Uint8Array | undefined {
  return /^(?:[0-9a-f]{64}|[0-9a-f]{128})$/i.test(entry) ? new Uint8Array(Buffer.from(entry, 'hex')) : undefined;
}

function readJsonArray(entry: string): Uint8Array | undefined {
  const numbers = entry.startsWith('[') ? parseJson(entry) : undefined;
  if (!Array.isArray(numbers) || numbers.length !== 64) return undefined;
  return numbers.every((n) => Number.isInteger(n) && n >= 0 && n <= 255) ? Uint8Array.from(numbers) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The error would contain a part of the secret.
    return undefined;
  }
}

function readBase58(entry: string): Uint8Array | undefined {
  for (const byteLength of [32, 64]) {
    try {
      return parseBase58(entry, byteLength, 'invalid_key');
    } catch {
      // Another length, or not Base58.
    }
  }
  return undefined;
}
