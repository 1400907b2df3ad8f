import { parseVerifierDomain } from '../keys/verifier-domain.js';
import { generateKeyPair } from '../keys/verifier-key.js';
import { requireKnown } from '../reject-unknown.js';

/** RFC 2606 reserves `.example`. */
const defaultDomain = 'shop.example';

/** Options of `intentRouter` that connect a site under test to a simulator. */
export interface SiteOptions {
  /** The base URL of the simulator. */
  readonly sequencerUrl: string;
  /** The wallet page, to which the button links. */
  readonly walletUrl: string;
  /** The secret of a new verifier key, which the simulator trusts for `domain`. */
  readonly verifierSecret: string;
  /** Domain of the site. */
  readonly domain: string;
  /** An account that receives payments; its private key is discarded. */
  readonly destination: string;
  /** The public key that verifies the webhooks of the simulator, for a site with `webhook: true`. */
  readonly webhookPublicKey: string;
  /** The simulator's clock. */
  readonly now: () => number;
  /** Off, because all tests share one address. */
  readonly rateLimits: false;
}

/** The same as environment variables, without `now` and `rateLimits`. */
export interface SiteEnvironment {
  readonly INTENT_SEQUENCER_URL: string;
  readonly INTENT_WALLET_URL: string;
  readonly INTENT_VERIFIER_SECRET: string;
  readonly INTENT_DOMAIN: string;
  readonly INTENT_DESTINATION: string;
  readonly INTENT_WEBHOOK_PUBLIC_KEY: string;
}

interface SiteIdentity {
  readonly domain?: string | undefined;
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
  options(site: SiteIdentity = {}): SiteOptions {
    requireKnown('simulator.siteOptions', site, ['domain']);
    const domain = parseVerifierDomain(site.domain ?? defaultDomain);
    const { url: sequencerUrl, walletUrl, webhookPublicKey, now } = this.#simulator;
    const verifierSecret = this.#secretOf(domain);
    const destination = this.#destination;
    return { sequencerUrl, walletUrl, verifierSecret, domain, destination, webhookPublicKey, now, rateLimits: false };
  }

  /** @throws as `options` */
  environment(site?: SiteIdentity): SiteEnvironment {
    const { sequencerUrl, walletUrl, verifierSecret, domain, destination, webhookPublicKey } = this.options(site);
    return {
      INTENT_SEQUENCER_URL: sequencerUrl,
      INTENT_WALLET_URL: walletUrl,
      INTENT_VERIFIER_SECRET: verifierSecret,
      INTENT_DOMAIN: domain,
      INTENT_DESTINATION: destination,
      INTENT_WEBHOOK_PUBLIC_KEY: webhookPublicKey,
    };
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
