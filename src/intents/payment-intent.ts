import { parseAccount, parseVerifierKey } from '../keys/base58.js';
import { parseVerifierDomain } from '../keys/verifier-domain.js';
import { toUint64, v1 } from '../wire/codec.js';
import { nativeCurrency } from './currency.js';
import { type Money, parseMoney, toNativeAmount, toQuarks } from './money.js';
import { type LoginTerms, newNonce, type SignedIntent, signIntent, withVerifierSignature } from './signed-intent.js';

/** What is to be paid, and to whom (interface section 2.8). */
export interface PaymentTerms {
  /** A decimal string or a number, at most two decimals, at least 0.05 usd. */
  readonly amount: string | number;
  /** Lowercase three-letter code, such as `usd`. */
  readonly currency: string;
  /** The account that receives the payment: Base58 of 32 bytes. */
  readonly destination: string;
  /** Set to log the payer in as well. */
  readonly login?: LoginTerms | undefined;
}

export interface PaymentIntentOptions {
  /** Whether a plain payment names its own rendezvous key; the `messaging` dialect leaves it out. Default true. */
  readonly nameRendezvous?: boolean;
  /** 11 bytes. Default: from the system's random source. */
  readonly nonce?: Uint8Array;
}

/**
 * Builds and signs a payment intent (interface section 2.4).
 * @throws {IntentError} `invalid_amount`, `amount_too_small`, `amount_too_large`, `unknown_currency`,
 *   `invalid_account`, `invalid_domain`, `invalid_key`, `signer_failed`
 */
export async function signPaymentIntent(
  terms: PaymentTerms,
  { nameRendezvous = true, nonce = newNonce() }: PaymentIntentOptions = {},
): Promise<SignedIntent> {
  const money = parseMoney(terms.amount, terms.currency);
  const request = { requestorAccount: { value: parseAccount(terms.destination) }, ...exchangeData(money) };
  const { login } = terms;
  const build = async (rendezvousKey: Uint8Array): Promise<v1.Message.$Properties> => {
    const named = nameRendezvous || login ? { ...request, rendezvousKey: { value: rendezvousKey } } : request;
    return { requestToReceiveBill: login ? await withLogin(named, login) : named };
  };
  return signIntent({ kind: 'payment', money, nonce }, build);
}

/** The native unit has a fixed rate, every other currency leaves the rate open (interface section 2.4). */
function exchangeData(money: Money): Pick<v1.RequestToReceiveBill.$Properties, 'exact' | 'partial'> {
  const { currency } = money;
  const nativeAmount = toNativeAmount(money);
  if (currency !== nativeCurrency) return { partial: { currency, nativeAmount } };
  return { exact: { currency, exchangeRate: 1, nativeAmount, quarks: toUint64(toQuarks(money)) } };
}

function withLogin(
  request: v1.RequestToReceiveBill.$Properties,
  { domain, verifier }: LoginTerms,
): Promise<v1.RequestToReceiveBill.$Properties> {
  const unsigned = {
    ...request,
    domain: { domain: parseVerifierDomain(domain) },
    verifier: { value: parseVerifierKey(verifier.publicKey) },
  };
  return withVerifierSignature(v1.RequestToReceiveBill, unsigned, verifier);
}
