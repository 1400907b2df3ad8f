import { IntentError } from '../errors.js';
import type { ExactTerms } from '../intents/exact-terms.js';
import { type Money, parseMoney } from '../intents/money.js';
import { decodePayload, parseClientSecret } from '../intents/payload.js';
import { type SignedIntent, signLoginIntent, signPaymentIntent } from '../intents/signed-intent.js';
import { requireSigner, type Signer } from '../keys/verifier-key.js';
import { requireKnown } from '../reject-unknown.js';
import type { Dialect } from './calls.js';

/** The verifier of a login, and the domain that publishes its key (interface section 4.7). */
export interface LoginParameters {
  /** Base58 public key. Its signer must be in `signers`. */
  readonly verifier: string;
  /** Registrable domain, such as `example.com`. */
  readonly domain: string;
}

/** The parameters of `paymentIntents.create` of a client (interface section 4.7). Hooks return `SitePaymentTerms` instead. */
export interface CreatePaymentParameters {
  /** Account that receives the payment, Base58 or Base64. */
  readonly destination: string;
  /** Decimal string or number with at most two decimal places. At least 0.01; 0.05 in usd. */
  readonly amount: string | number;
  /** Lowercase three-letter code. */
  readonly currency: string;
  /** A fixed rate (`exact` of interface section 2.4). Default: the rate is open. */
  readonly exact?: ExactTerms | undefined;
  /** Also logs the payer in. Needs `signers`. */
  readonly login?: LoginParameters | undefined;
  /** The signers of the login, including that of `login.verifier`. */
  readonly signers?: readonly Signer[] | undefined;
  /**
   * Recreates the intent of this client secret, if all parameters are the same. Only amount and currency are checked. Default: a
   * new intent.
   */
  readonly clientSecret?: string | undefined;
}

/** The parameters of `loginIntents.create` (interface section 4.7). */
export interface CreateLoginParameters {
  /** The verifier and domain of the site. */
  readonly login: LoginParameters;
  /** The signers, including that of `login.verifier`. */
  readonly signers: readonly Signer[];
  /** The client secret of an earlier login: recreates that login. Default: a new one. */
  readonly clientSecret?: string | undefined;
}

const paymentParameters = ['destination', 'amount', 'currency', 'exact', 'login', 'signers', 'clientSecret'] as const;

/** @throws {IntentError} for invalid terms, and `invalid_request` for an unknown parameter */
export function signPayment(parameters: CreatePaymentParameters, dialect: Dialect): Promise<SignedIntent> {
  requireKnown('paymentIntents', parameters ?? null, paymentParameters);
  const { destination, amount, currency, exact, login, signers = [], clientSecret } = parameters;
  const terms = { destination, amount, currency, exact, login: login && withSigner(login, signers) };
  const nonce = clientSecret === undefined ? {} : { nonce: nonceOf(clientSecret, parseMoney(amount, currency)) };
  return signPaymentIntent(terms, { includesRendezvousKey: dialect === 'intents', ...nonce });
}

export function signLogin(parameters: CreateLoginParameters): Promise<SignedIntent> {
  requireKnown('loginIntents', parameters ?? null, ['login', 'signers', 'clientSecret']);
  const { login, signers = [], clientSecret } = parameters;
  const nonce = clientSecret === undefined ? {} : { nonce: nonceOf(clientSecret, undefined) };
  return signLoginIntent(withSigner(login, signers), nonce);
}

/** The random part of a client secret. The money in its other part must equal that of the terms; a login has none. */
function nonceOf(clientSecret: string, money: Money | undefined): Uint8Array {
  const payload = decodePayload(parseClientSecret(clientSecret));
  const stated = payload.kind === 'payment' ? payload.money : undefined;
  if (stated?.currency === money?.currency && stated?.hundredths === money?.hundredths) return payload.nonce;
  throw new IntentError(
    'invalid_client_secret',
    'The client secret belongs to an intent of another kind or with other terms. Use its kind, amount and currency.',
  );
}

function withSigner(login: LoginParameters, signers: readonly Signer[]): { domain: string; verifier: Signer } {
  requireKnown('the parameter `login`', login ?? null, ['verifier', 'domain']);
  const { verifier, domain } = login;
  for (const signer of signers) requireSigner('Each of signers', signer);
  const signer = signers.find(({ publicKey }) => publicKey === verifier);
  if (!signer)
    throw new IntentError('invalid_key', 'signers must include the signer whose publicKey is login.verifier.');
  return { domain, verifier: signer };
}
