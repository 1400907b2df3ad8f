import { randomBytes } from 'node:crypto';
import { parseAccount } from '../keys/base58.js';
import type { KeyPair } from '../keys/ed25519.js';
import { parseVerifierDomain } from '../keys/verifier-domain.js';
import { type Signer, signChecked } from '../keys/verifier-key.js';
import { parseVerifyingKey } from '../keys/verifying-key.js';
import { encode, toUint64, v1 } from '../wire/codec.js';
import { withoutFields } from '../wire/fields.js';
import { type ExactTerms, parseExact } from './exact-terms.js';
import { type Money, parseMoney, toNativeAmount } from './money.js';
import {
  encodePayload,
  formatClientSecret,
  intentIdOf,
  nonceLength,
  type Payload,
  rendezvousKeyPair,
} from './payload.js';

/** An intent that can be sent to the sequencer. */
export interface SignedIntent {
  readonly id: string;
  /**
   * Base58 of 20 bytes, from which the private key of the intent is derived. It leaves the server only after the sequencer accepts
   * the intent.
   */
  readonly clientSecret: string;
  readonly rendezvousKey: Uint8Array;
  readonly message: v1.Message.$Properties;
  /** The serialized message, which the signature covers. */
  readonly signedBytes: Uint8Array;
  readonly signature: Uint8Array;
}

/** The amount of a payment and its destination account (interface section 2.8). */
export interface PaymentTerms {
  /** A decimal string or a number, at most two decimal places, at least 0.01; 0.05 in usd. */
  readonly amount: string | number;
  readonly currency: string;
  readonly destination: string;
  /** A fixed rate. Default: the rate is open. */
  readonly exact?: ExactTerms | undefined;
  readonly login?: LoginTerms | undefined;
}

/** The domain that publishes the verifier key, and its signer (interface section 5.3). */
export interface LoginTerms {
  readonly domain: string;
  readonly verifier: Signer;
}

export interface PaymentIntentOptions {
  /** Whether a payment without login contains its rendezvous key; the `messaging` dialect omits it. Default true. */
  readonly includesRendezvousKey?: boolean;
  /** 11 bytes. Default: random. */
  readonly nonce?: Uint8Array;
}

/**
 * Builds and signs a payment intent (interface section 2.4).
 * @throws {IntentError} `invalid_amount`, `amount_too_small`, `amount_too_large`, `unknown_currency`,
 *   `invalid_account`, `invalid_domain`, `invalid_key`, `signer_failed`
 */
export async function signPaymentIntent(
  terms: PaymentTerms,
  { includesRendezvousKey = true, nonce = newNonce() }: PaymentIntentOptions = {},
): Promise<SignedIntent> {
  const { login, destination } = terms;
  const money = parseMoney(terms.amount, terms.currency);
  const request: v1.RequestToReceiveBill.$Properties = {
    requestorAccount: { value: parseAccount(destination) },
    ...exchangeData(money, terms.exact),
  };
  const keys = newIntentKeys({ kind: 'payment', money, nonce });
  if (includesRendezvousKey || login) request.rendezvousKey = { value: keys.rendezvous.publicKey };
  if (!login) return signIntent(keys, { requestToReceiveBill: request });
  const named = { ...request, ...verifierOf(login) };
  const signed = await withVerifierSignature(v1.RequestToReceiveBill, named, login.verifier);
  return signIntent(keys, { requestToReceiveBill: signed });
}

/**
 * Builds and signs a login intent (interface sections 2.5 and 5.3).
 * @param options `nonce`: 11 bytes, random by default
 * @throws {IntentError} `invalid_domain`, `invalid_key`, `signer_failed`
 */
export async function signLoginIntent(
  login: LoginTerms,
  { nonce = newNonce() }: { readonly nonce?: Uint8Array } = {},
): Promise<SignedIntent> {
  const verifier = verifierOf(login);
  const keys = newIntentKeys({ kind: 'login', nonce });
  const request = { ...verifier, rendezvousKey: { value: keys.rendezvous.publicKey } };
  const signed = await withVerifierSignature(v1.RequestToLogin, request, login.verifier);
  return signIntent(keys, { requestToLogin: signed });
}

/** Secure random bytes. Never derive them from an order number or the time. */
function newNonce(): Uint8Array {
  return randomBytes(nonceLength);
}

/** The amount, with its rate if that is fixed (interface section 2.4). */
function exchangeData(
  money: Money,
  terms: ExactTerms | undefined,
): Pick<v1.RequestToReceiveBill.$Properties, 'exact' | 'partial'> {
  const amount = { currency: money.currency, nativeAmount: toNativeAmount(money) };
  const rate = parseExact(terms, money);
  if (!rate) return { partial: amount };
  return { exact: { ...amount, exchangeRate: rate.exchangeRate, quarks: toUint64(rate.quarks) } };
}

function verifierOf({ domain, verifier }: LoginTerms): Pick<v1.RequestToLogin.$Properties, 'domain' | 'verifier'> {
  return {
    domain: { domain: parseVerifierDomain(domain) },
    verifier: { value: parseVerifyingKey(verifier.publicKey) },
  };
}

/** Signs an inner message with the verifier key and sets its signature (interface section 2.5). */
async function withVerifierSignature<Properties extends { signature?: v1.Signature.$Properties | null }>(
  codec: Parameters<typeof encode<Properties>>[0],
  message: Properties,
  verifier: Signer,
): Promise<Properties> {
  return { ...message, signature: { value: await signChecked(verifier, bytesToSign(codec, message)) } };
}

/** The payload of an intent, and the rendezvous key that is derived from it (protocol section 2). */
interface IntentKeys {
  readonly payload: Uint8Array;
  readonly rendezvous: KeyPair;
}

function newIntentKeys(payload: Payload): IntentKeys {
  const bytes = encodePayload(payload);
  return { payload: bytes, rendezvous: rendezvousKeyPair(bytes) };
}

/** Signs a message with the rendezvous key. */
function signIntent({ payload, rendezvous }: IntentKeys, message: v1.Message.$Properties): SignedIntent {
  const signedBytes = encode(v1.Message, message);
  return {
    id: intentIdOf(rendezvous),
    clientSecret: formatClientSecret(payload),
    rendezvousKey: rendezvous.publicKey,
    message,
    signedBytes,
    signature: rendezvous.sign(signedBytes),
  };
}

/**
 * For a message with its own `signature` field, such as RequestToLogin: the bytes that this signature covers, which are the
 * message without the field.
 */
export function bytesToSign<Properties extends { signature?: v1.Signature.$Properties | null }>(
  codec: Parameters<typeof encode<Properties>>[0],
  message: Properties,
): Uint8Array {
  return encode(codec, { ...message, signature: null });
}

/**
 * For the outer `Message`: the bytes that the rendezvous key signs, which are the message without its id and signature,
 * fields 1 and 3 (protocol section 4).
 */
export function encodeSignedBytes(message: v1.Message.$Properties): Uint8Array {
  return encode(v1.Message, { ...message, id: null, sendMessageRequestSignature: null });
}

/** Like `encodeSignedBytes`, for a message as sent, including explicit default values. */
export function extractSignedBytes(message: Uint8Array): Uint8Array {
  return withoutFields(message, 1, 3);
}
