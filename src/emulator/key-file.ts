import { IntentError } from '../errors.js';
import type { StatedLogin } from '../intents/verify-intent.js';
import { parseVerifierDomain } from '../keys/verifier-domain.js';
import { isLoopback, parseHttpUrl } from './loopback.js';
import { Outbound, type OutboundOptions } from './outbound.js';
import { loopbackReach, publicReach } from './reach.js';

const path = '/.well-known/service-payments.json';

/** Reads the files that publish verifier keys (interface sections 2.7 and 4.6). */
export class KeyFileReader {
  readonly #localOrigins = new Map<string, string>();
  readonly #public: Outbound;
  readonly #local: Outbound;

  constructor(options: OutboundOptions = {}) {
    this.#public = new Outbound(publicReach, options);
    this.#local = new Outbound(loopbackReach, options);
  }

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
    const localOrigin = this.#localOrigins.get(domain);
    const [outbound, origin] = localOrigin ? [this.#local, localOrigin] : [this.#public, `https://${domain}`];
    const address = `${origin}${path}`;
    const keys = await readPublicKeys(outbound, address);
    if (!keys.includes(verifier)) throw refused(`The key file at ${address} does not list ${verifier}.`);
  }

  /** The domains whose file is on this machine. */
  get localDomains(): readonly string[] {
    return [...this.#localOrigins.keys()];
  }

  /** Where the file of a domain is, for a person. */
  addressOf(domain: string): string {
    return `${this.#localOrigins.get(domain) ?? `https://${domain}`}${path}`;
  }
}

async function readPublicKeys(outbound: Outbound, address: string): Promise<unknown[]> {
  let text: string;
  try {
    text = await readText(outbound, address);
  } catch (cause) {
    const mend = 'For a site on this machine call sequencer.setLocalDomain(domain, origin).';
    throw refused(`The key file at ${address} cannot be read: ${(cause as Error).message}. ${mend}`, cause);
  }
  const keys = parsePublicKeys(text);
  if (!keys) throw refused(`The key file at ${address} is not a JSON object with an array public_keys.`);
  return keys;
}

async function readText(outbound: Outbound, address: string): Promise<string> {
  const { status, text } = await outbound.call(address, { method: 'GET' });
  if (status !== 200) throw new Error(`it is answered with status ${status}, not 200`);
  return text;
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

const refused = (message: string, cause?: unknown): IntentError =>
  new IntentError('request_refused', message, { cause });
