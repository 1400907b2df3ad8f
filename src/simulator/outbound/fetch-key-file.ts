import { createServer, type RequestListener } from 'node:http';
import { IntentError } from '../../errors.js';
import type { RequestedLogin } from '../../intents/verify-intent.js';
import { parseVerifierDomain } from '../../keys/verifier-domain.js';
import { parseVerifyingKey } from '../../keys/verifying-key.js';
import { isLoopback, parseHttpUrl } from '../../net/url.js';
import { listen } from '../servers/listen.js';
import { GuardedHttpClient, loopbackAddresses, type OutboundOptions, publicAddresses } from './guarded-http-client.js';

const path = '/.well-known/service-payments.json';

/** Replaces `https://<domain>` as the source of a domain's keys: an origin on this machine, an app, or trusted keys. */
type LocalSource =
  | { readonly origin: string }
  | { readonly listener: RequestListener }
  | { readonly keys: readonly string[] };

/** Reads key files, which publish verifier keys (interface sections 2.7 and 4.6). */
export class KeyFileReader {
  readonly #localSources = new Map<string, LocalSource>();
  readonly #public: GuardedHttpClient;
  readonly #local: GuardedHttpClient;

  constructor(options: OutboundOptions = {}) {
    this.#public = new GuardedHttpClient(publicAddresses, options);
    this.#local = new GuardedHttpClient(loopbackAddresses, { ...options, anyCertificate: true });
  }

  /**
   * Reads the key file of `domain` from `site` instead of over https: an origin such as `http://127.0.0.1:3000`, or an app,
   * which is served while the file is read.
   * @throws {IntentError} `invalid_domain`, or `invalid_configuration` if the origin is not on this machine
   */
  setLocalDomain(domain: string, site: string | RequestListener): void {
    const source = typeof site === 'function' ? { listener: site } : { origin: localOrigin(domain, site) };
    this.#localSources.set(parseVerifierDomain(domain), source);
  }

  /**
   * Trusts these keys, Base58, for `domain` instead of reading its key file.
   * @throws {IntentError} `invalid_domain`, `invalid_key`
   */
  trust(domain: string, publicKeys: readonly string[]): void {
    for (const key of publicKeys) parseVerifyingKey(key);
    this.#localSources.set(parseVerifierDomain(domain), { keys: [...publicKeys] });
  }

  /** As `trust`, unless the source of the keys of `domain` was set before. */
  trustByDefault(domain: string, publicKeys: readonly string[]): void {
    if (!this.#localSources.has(parseVerifierDomain(domain))) this.trust(domain, publicKeys);
  }

  /**
   * Requires that a login's domain publishes its verifier (interface section 5.3). The check of the verifier covers key files:
   * their other keys are not used.
   * @throws {IntentError} `request_refused`, `invalid_key`
   */
  async verifyKeyPublished({ domain, verifier }: RequestedLogin): Promise<void> {
    parseVerifyingKey(verifier);
    const source = this.#localSources.get(domain);
    if (source && 'keys' in source) {
      if (source.keys.includes(verifier)) return;
      throw refused(
        `The trusted keys of ${domain} do not include ${verifier}. Pass all keys of the domain to trust().`,
      );
    }
    if (source && 'listener' in source) {
      return whileServed(source.listener, (origin) => verifyKeyPublishedAt(this.#local, origin, verifier));
    }
    return source
      ? verifyKeyPublishedAt(this.#local, source.origin, verifier)
      : verifyKeyPublishedAt(this.#public, `https://${domain}`, verifier);
  }

  /** Where the key file of a domain is read; undefined if its keys are trusted without one. */
  addressOf(domain: string): string | undefined {
    const source = this.#localSources.get(domain) ?? { origin: `https://${domain}` };
    if ('origin' in source) return `${source.origin}${path}`;
    return 'keys' in source ? undefined : 'an app in this process';
  }
}

function localOrigin(domain: string, origin: string): string {
  const url = parseHttpUrl(origin);
  if (url && isLoopback(url.hostname)) return url.origin;
  throw new IntentError(
    'invalid_configuration',
    `The local origin of ${domain} must be on this machine, such as http://127.0.0.1:3000.`,
  );
}

async function verifyKeyPublishedAt(outbound: GuardedHttpClient, origin: string, verifier: string): Promise<void> {
  const address = `${origin}${path}`;
  const keys = await readPublicKeys(outbound, address);
  if (keys.includes(verifier)) return;
  throw refused(
    `The key file at ${address} does not list ${verifier}, the verifier of this login. Restart the site at that address with ` +
      'the INTENT_VERIFIER_SECRET that signed the login, or set the local origin of the domain to the site that created it.',
  );
}

async function whileServed(listener: RequestListener, call: (origin: string) => Promise<void>): Promise<void> {
  const server = createServer(listener);
  try {
    const port = await listen(server, { port: 0, fix: 'Create the login again.', unref: false });
    await call(`http://127.0.0.1:${port}`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

const publicFix =
  'For a site on this machine, start the simulator with --local-domain <domain>=<origin>, or call setLocalDomain() in a test.';

const localFix = 'Make sure that the router serves it there, with any Host header.';

async function readPublicKeys(outbound: GuardedHttpClient, address: string): Promise<unknown[]> {
  let text: string;
  try {
    text = await readText(outbound, address);
  } catch (cause) {
    const fix = isLoopback(new URL(address).hostname) ? localFix : publicFix;
    throw refused(`The key file at ${address} cannot be read: ${(cause as Error).message}. ${fix}`, cause);
  }
  const keys = parsePublicKeys(text);
  if (!keys)
    throw refused(
      `The key file at ${address} is not a JSON object with an array public_keys. Make sure that the router serves it.`,
    );
  return keys;
}

async function readText(outbound: GuardedHttpClient, address: string): Promise<string> {
  const { status, text } = await outbound.call(address, { method: 'GET' });
  if (status !== 200) throw new Error(`the response has status ${status}, not 200`);
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
