import { IntentError } from '../errors.js';
import type { StatedLogin } from '../intents/verify-intent.js';
import { parseVerifierDomain } from '../keys/verifier-domain.js';
import { isLoopback, parseHttpUrl } from './loopback.js';
import { readError } from './read-error.js';

const path = '/.well-known/service-payments.json';
const timeoutMs = 3_000;
const maxBytes = 8 * 1024;

/** Reads the files that publish verifier keys (interface sections 2.7 and 4.6). */
export class KeyFileReader {
  readonly #localOrigins = new Map<string, string>();

  /**
   * From now on the file of `domain` is read at `origin`, such as `http://127.0.0.1:3000`, and not over https.
   * @throws {IntentError} `invalid_domain`, or `invalid_configuration` when the origin is not on this machine
   */
  setLocalDomain(domain: string, origin: string): void {
    const url = parseHttpUrl(origin);
    if (!url || !isLoopback(url.hostname)) {
      throw new IntentError(
        'invalid_configuration',
        `The local origin of ${domain} must be on this machine, such as http://127.0.0.1:3000.`,
      );
    }
    this.#localOrigins.set(parseVerifierDomain(domain), url.origin);
  }

  /**
   * Lets a login pass whose verifier is published at its domain (interface section 5.3).
   * @throws {IntentError} `request_refused`
   */
  async requireListed({ domain, verifier }: StatedLogin): Promise<void> {
    const address = `${this.#localOrigins.get(domain) ?? `https://${domain}`}${path}`;
    const keys = await readPublicKeys(address);
    if (!keys.includes(verifier)) throw refused(`The key file at ${address} does not list ${verifier}.`);
  }
}

async function readPublicKeys(address: string): Promise<unknown[]> {
  let text: string;
  try {
    text = await readText(address);
  } catch (cause) {
    const mend = 'For a site on this machine call sequencer.setLocalDomain(domain, origin).';
    throw refused(`The key file at ${address} cannot be read: ${reasonOf(cause)}. ${mend}`, cause);
  }
  const keys = parsePublicKeys(text);
  if (!keys) throw refused(`The key file at ${address} is not a JSON object with an array public_keys.`);
  return keys;
}

async function readText(address: string): Promise<string> {
  const response = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`it is answered with status ${response.status}, not 200`);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsePublicKeys(text: string): unknown[] | undefined {
  try {
    const file: unknown = JSON.parse(text);
    const keys = typeof file === 'object' && file !== null && 'public_keys' in file ? file.public_keys : undefined;
    return Array.isArray(keys) ? keys : undefined;
  } catch {
    return undefined;
  }
}

// What fetch throws says no more than "fetch failed"; the reason is one level down.
function reasonOf(thrown: unknown): string {
  const { name, message, cause } = readError(thrown);
  if (name === 'TimeoutError') return `no answer within ${timeoutMs / 1000} seconds`;
  return String(readError(cause).message || message);
}

const refused = (message: string, cause?: unknown): IntentError =>
  new IntentError('request_refused', message, { cause });
