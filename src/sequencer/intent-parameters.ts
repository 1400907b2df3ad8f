import { IntentError } from '../errors.js';
import { signLoginIntent } from '../intents/login-intent.js';
import { type Money, parseMoney } from '../intents/money.js';
import { decodePayload, parseClientSecret } from '../intents/payload.js';
import { signPaymentIntent } from '../intents/payment-intent.js';
import type { SignedIntent } from '../intents/signed-intent.js';
import type { Signer } from '../keys/verifier-key.js';
import type { Dialect } from './calls.js';

/** Who verifies a login, and where the key is published (interface section 4.7). */
export interface LoginParameters {
  /** Base58 public key; its signer must be among `signers`. */
  readonly verifier: string;
  /** Bare registrable name, such as `example.com`. */
  readonly domain: string;
}

/** What `paymentIntents.create` takes (interface section 4.7). */
export interface CreatePaymentParameters {
  /** Base58 account that receives the payment. */
  readonly destination: string;
  /** Decimal string or number with at most two decimals; at least 0.05 usd. */
  readonly amount: string | number;
  /** Lowercase three-letter code. */
  readonly currency: string;
  /** Logs the payer in as well; needs `signers`. */
  readonly login?: LoginParameters | undefined;
  /** Those who sign the login: the signer of `login.verifier` must be among them. */
  readonly signers?: readonly Signer[] | undefined;
  /** Of an intent with the same amount and currency that was prepared before: makes that one again. Default: a new one. */
  readonly clientSecret?: string | undefined;
}

/** What `loginIntents.create` takes (interface section 4.7). */
export interface CreateLoginParameters {
  /** Who asks the wallet to log in. */
  readonly login: LoginParameters;
  /** The signer of `login.verifier` must be among them. */
  readonly signers: readonly Signer[];
  /** Of a login that was prepared before: makes that one again. Default: a new one. */
  readonly clientSecret?: string | undefined;
}

/** @throws {IntentError} for terms that are wrong */
export async function signPayment(parameters: CreatePaymentParameters, dialect: Dialect): Promise<SignedIntent> {
  const { destination, amount, currency, login, signers = [], clientSecret } = parameters;
  const terms = { destination, amount, currency, login: login && withSigner(login, signers) };
  const nonce = clientSecret === undefined ? {} : { nonce: nonceOf(clientSecret, parseMoney(amount, currency)) };
  return signPaymentIntent(terms, { nameRendezvous: dialect === 'intents', ...nonce });
}

/** @throws {IntentError} for terms that are wrong */
export async function signLogin({ login, signers = [], clientSecret }: CreateLoginParameters): Promise<SignedIntent> {
  const nonce = clientSecret === undefined ? {} : { nonce: nonceOf(clientSecret, undefined) };
  return signLoginIntent(withSigner(login, signers), nonce);
}

/** The random part of a client secret, whose other part must say the same as the terms; a login has no money. */
function nonceOf(clientSecret: string, money: Money | undefined): Uint8Array {
  const payload = decodePayload(parseClientSecret(clientSecret));
  const stated = payload.kind === 'payment' ? payload.money : undefined;
  if (stated?.currency === money?.currency && stated?.hundredths === money?.hundredths) return payload.nonce;
  throw new IntentError('invalid_client_secret', 'The client secret is that of an intent with other terms.');
}

function withSigner(
  { verifier, domain }: LoginParameters,
  signers: readonly Signer[],
): { domain: string; verifier: Signer } {
  const signer = signers.find(({ publicKey }) => publicKey === verifier);
  if (!signer) throw new IntentError('invalid_key', 'signers must include the signer of the verifier.');
  return { domain, verifier: signer };
}
