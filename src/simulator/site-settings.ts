import { parseVerifierDomain } from '../keys/verifier-domain.js';
import { generateKeyPair } from '../keys/verifier-key.js';
import type { SiteMetadata } from '../ledger/payment.js';
import { requireKnown } from '../reject-unknown.js';
import type { IntentRouterOptions } from '../router/options.js';

/** RFC 2606 reserves `.example`. */
const defaultDomain = 'shop.example';

/** Options of `intentRouter` for a site under test. */
export interface SiteOptions<Metadata extends object = SiteMetadata> extends IntentRouterOptions<Metadata> {
  readonly destination: string;
}

/** The environment variables that connect a site to a simulator. */
export interface SiteEnvironment {
  readonly INTENT_SEQUENCER_URL: string;
  readonly INTENT_WALLET_URL: string;
  readonly INTENT_VERIFIER_SECRET: string;
  readonly INTENT_DOMAIN: string;
  readonly INTENT_DESTINATION: string;
  readonly INTENT_WEBHOOK_PUBLIC_KEY: string;
}

interface SimulatorAccess {
  readonly url: string;
  readonly walletUrl: string;
  readonly webhookPublicKey: string;
  readonly now: () => number;
  readonly trust: (domain: string, publicKeys: readonly string[]) => void;
}

/** Creates the settings of sites under test. Each domain has one verifier key. */
export class SiteSettings {
  readonly #simulator: SimulatorAccess;
  readonly #destination = generateKeyPair().publicKey;
  readonly #secrets = new Map<string, string>();

  constructor(simulator: SimulatorAccess) {
    this.#simulator = simulator;
  }

  /** @throws {IntentError} `invalid_domain` */
  options<Metadata extends object = SiteMetadata>(given: IntentRouterOptions<Metadata> = {}): SiteOptions<Metadata> {
    const { url, walletUrl, webhookPublicKey, now } = this.#simulator;
    const { login, webhook } = given;
    const options = typeof login === 'object' ? login : {};
    const { domain, verifierSecret } = this.#loginAt(options.domain);
    return {
      testClock: now,
      ...given,
      destination: given.destination ?? this.#destination,
      sequencer: { url, ...given.sequencer },
      login: login === false ? false : { verifierSecret, ...options, domain },
      button: { walletUrl, ...given.button },
      // All tests share one address.
      limits: { requests: false, ...given.limits },
      webhook: webhook === true ? { publicKeys: [webhookPublicKey] } : webhook,
    };
  }

  /** @throws as `options` */
  environment(site: { readonly domain?: string | undefined } = {}): SiteEnvironment {
    requireKnown('simulator.siteEnvironment', site, ['domain']);
    const { url, walletUrl, webhookPublicKey } = this.#simulator;
    const login = this.#loginAt(site.domain);
    return {
      INTENT_SEQUENCER_URL: url,
      INTENT_WALLET_URL: walletUrl,
      INTENT_VERIFIER_SECRET: login.verifierSecret,
      INTENT_DOMAIN: login.domain,
      INTENT_DESTINATION: this.#destination,
      INTENT_WEBHOOK_PUBLIC_KEY: webhookPublicKey,
    };
  }

  #loginAt(given = defaultDomain): { readonly domain: string; readonly verifierSecret: string } {
    const domain = parseVerifierDomain(given);
    return { domain, verifierSecret: this.#secretOf(domain) };
  }

  #secretOf(domain: string): string {
    const known = this.#secrets.get(domain);
    if (known !== undefined) return known;
    const { secret, publicKey } = generateKeyPair();
    this.#secrets.set(domain, secret);
    this.#simulator.trust(domain, [publicKey]);
    return secret;
  }
}
