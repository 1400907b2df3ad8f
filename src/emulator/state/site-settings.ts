import { parseVerifierDomain } from '../../keys/verifier-domain.js';
import { generateKey } from '../../keys/verifier-key.js';

/** RFC 2606 keeps `.example` free for uses like this. */
const anyDomain = 'shop.example';

/** What a site under test can be told. */
export interface SiteOptionsRequest {
  /** The domain of its logins. Default `shop.example`. */
  readonly domain?: string | undefined;
}

/** What a site under test needs to work with a sequencer; all of them options of `intentRouter`. */
export interface SiteOptions {
  /** base_url of the sequencer. */
  readonly sequencerUrl: string;
  /** The button links to the wallet page, with the client secret as the fragment. */
  readonly walletUrl: string;
  /** Of a key that was drawn for this sequencer, which takes it to be published at `domain`. */
  readonly verifierSecret: string;
  /** The domain of its logins. */
  readonly domain: string;
  /** An account that nobody has the key of. */
  readonly destination: string;
  /** Needed by a site with `webhook: true`, which needs an `origin` as well. */
  readonly serviceKey: string;
  /** The time of the sequencer's clock. */
  readonly now: () => number;
  /** Nothing is limited: to the site all tests are one address. */
  readonly rateLimits: false;
}

/** The environment variables that mean the same. There is none for `now` and `rateLimits`. */
export interface SiteEnvironment {
  readonly INTENT_SEQUENCER_URL: string;
  readonly INTENT_WALLET_URL: string;
  readonly INTENT_VERIFIER_SECRET: string;
  readonly INTENT_DOMAIN: string;
  readonly INTENT_DESTINATION: string;
  readonly INTENT_SERVICE_KEY: string;
}

interface Addresses {
  readonly url: string;
  readonly walletUrl: string;
  readonly serviceKey: string;
  readonly now: () => number;
  /** Takes these verifier keys to be published at a domain. */
  readonly trust: (domain: string, publicKeys: readonly string[]) => void;
}

/** Makes the settings of sites that are to work with a sequencer, and the keys they need: a domain has the same each time. */
export class SiteSettings {
  readonly #addresses: Addresses;
  readonly #destination = generateKey().publicKey;
  readonly #secrets = new Map<string, string>();

  constructor(addresses: Addresses) {
    this.#addresses = addresses;
  }

  /** @throws {IntentError} `invalid_domain` */
  options({ domain: given = anyDomain }: SiteOptionsRequest = {}): SiteOptions {
    const domain = parseVerifierDomain(given);
    const { url: sequencerUrl, walletUrl, serviceKey, now } = this.#addresses;
    const verifierSecret = this.#secretOf(domain);
    const destination = this.#destination;
    return { sequencerUrl, walletUrl, verifierSecret, domain, destination, serviceKey, now, rateLimits: false };
  }

  /** @throws as `options` */
  environment(request?: SiteOptionsRequest): SiteEnvironment {
    const { sequencerUrl, walletUrl, verifierSecret, domain, destination, serviceKey } = this.options(request);
    return {
      INTENT_SEQUENCER_URL: sequencerUrl,
      INTENT_WALLET_URL: walletUrl,
      INTENT_VERIFIER_SECRET: verifierSecret,
      INTENT_DOMAIN: domain,
      INTENT_DESTINATION: destination,
      INTENT_SERVICE_KEY: serviceKey,
    };
  }

  #secretOf(domain: string): string {
    const known = this.#secrets.get(domain);
    if (known !== undefined) return known;
    const { secret, publicKey } = generateKey();
    this.#secrets.set(domain, secret);
    this.#addresses.trust(domain, [publicKey]);
    return secret;
  }
}
