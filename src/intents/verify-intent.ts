import { IntentError } from '../errors.js';
import { formatBase58 } from '../keys/base58.js';
import { verifySignature } from '../keys/ed25519.js';
import { parseVerifierDomain } from '../keys/verifier-domain.js';
import { requireVerifyingKey } from '../keys/verifying-key.js';
import { type Codec, decode, decodeWithUnknown, encode, fromUint64, type v1 } from '../wire/codec.js';
import { differsByDefaultsOnly, messagesIn, withoutFields } from '../wire/fields.js';
import { nativeCurrency } from './currency-codes.js';
import { type FixedRate, parseExact } from './exact-terms.js';
import { type Money, parseMoney } from './money.js';
import type { Payload } from './payload.js';
import { encodeSignedBytes } from './signed-intent.js';

/** The site of a login, from a verified intent. */
export interface RequestedLogin {
  /** Bare registrable name, such as `example.com`. */
  readonly domain: string;
  /** The verifier public key, Base58. */
  readonly verifier: string;
}

/** The terms of a payment, from a verified intent. */
interface PaymentRequest {
  readonly kind: 'payment';
  readonly money: Money;
  /** Undefined if the rate is open. */
  readonly rate: FixedRate | undefined;
  readonly destination: string;
  readonly login: RequestedLogin | undefined;
}

export type IntentRequest = PaymentRequest | { readonly kind: 'login'; readonly login: RequestedLogin };

/**
 * Decodes a message in canonical form. Unknown fields and other encodings of the same fields are rejected, so the signature
 * covers only what was decoded. Explicit default values are allowed, because some encoders write them.
 * @throws {IntentError} `malformed_message`
 */
export function decodeCanonical<Decoded>(codec: Codec<Decoded, Decoded>, bytes: Uint8Array): Decoded {
  const message = decode(codec, bytes);
  const canonical = encode(codec, message);
  if (Buffer.compare(canonical, bytes) === 0) return message;
  const withUnknown = encode(codec, decodeWithUnknown(codec, bytes));
  if (Buffer.compare(canonical, withUnknown) === 0 && differsByDefaultsOnly(bytes, canonical)) return message;
  throw new IntentError('malformed_message', 'The message has unknown fields or is not in its canonical form.');
}

/**
 * Verifies the signatures, the form and the limits of an intent (interface sections 2.4, 2.5, 5 and 8). Only the simulator
 * and its wallet call this, because a site does not receive intents.
 *
 * @param message decoded by `decodeCanonical`, alone or as part of a larger message
 * @param rendezvousKey 32 bytes
 * @param signature by the rendezvous key, 64 bytes
 * @param signedBytes the bytes that the signature covers, as sent
 * @throws {IntentError} `invalid_signature`, `invalid_key`, `malformed_message`, `not_supported`, or the code of an invalid
 *   amount, currency or domain, such as `amount_too_small`
 */
export function verifyIntent(
  message: v1.Message,
  rendezvousKey: Uint8Array,
  signature: Uint8Array,
  signedBytes: Uint8Array = encodeSignedBytes(message),
): IntentRequest {
  if (!verifySignature(requireVerifyingKey(rendezvousKey), signedBytes, signature)) {
    throw new IntentError('invalid_signature', 'The intent is not signed by its rendezvous key.');
  }
  const { requestToReceiveBill, requestToLogin } = message;
  const verifierBytes = verifierBytesIn(signedBytes);
  if (requestToReceiveBill) return readPayment(requestToReceiveBill, verifierBytes, rendezvousKey);
  if (requestToLogin) return { kind: 'login', login: readLogin(requestToLogin, verifierBytes, rendezvousKey) };
  throw new IntentError('not_supported', 'Only payment requests and logins can be created.');
}

/** Whether a scanned payload and the request of its intent have the same kind, currency and amount. */
export function matchesRequest(payload: Payload, request: IntentRequest): boolean {
  if (payload.kind === 'login' || request.kind === 'login') return payload.kind === request.kind;
  return payload.money.currency === request.money.currency && payload.money.hundredths === request.money.hundredths;
}

/** The rendezvous key in an intent. A payment of the `messaging` dialect without login has none. */
export function rendezvousKeyIn(message: v1.Message): Uint8Array | undefined {
  const { requestToReceiveBill, requestToLogin } = message;
  return (requestToReceiveBill ?? requestToLogin)?.rendezvousKey?.value ?? undefined;
}

/** The bytes that the signature of the verifier covers: the RequestToReceiveBill or RequestToLogin in a message. */
export function verifierBytesIn(signedBytes: Uint8Array): Uint8Array {
  const [payment] = messagesIn(signedBytes, 5);
  if (payment) return withoutFields(payment, 6);
  return withoutFields(messagesIn(signedBytes, 10)[0] ?? new Uint8Array(), 5);
}

function readPayment(
  request: v1.RequestToReceiveBill.$Properties,
  verifierBytes: Uint8Array,
  rendezvousKey: Uint8Array,
): IntentRequest {
  const price = readPrice(request);
  const destination = formatBase58(bytes32(request.requestorAccount?.value, 'requestor_account'));
  const { domain, verifier, signature } = request;
  if (domain || verifier || signature) {
    const login = readLogin(request, verifierBytes, rendezvousKey);
    return { kind: 'payment', ...price, destination, login };
  }
  if (request.rendezvousKey) requireSameRendezvous(request.rendezvousKey.value, rendezvousKey);
  return { kind: 'payment', ...price, destination, login: undefined };
}

function readPrice({ exact, partial }: v1.RequestToReceiveBill.$Properties): Pick<PaymentRequest, 'money' | 'rate'> {
  const data = exact ?? partial;
  if (!data || (exact && partial)) throw malformed('Exactly one of exact and partial must be set.');
  const money = parseMoney(data.nativeAmount ?? 0, data.currency ?? '');
  if (!exact && money.currency === nativeCurrency) throw malformed(`${nativeCurrency} requires exact.`);
  const { exchangeRate, quarks } = exact ?? {};
  const terms = exact ? { exchangeRate: exchangeRate ?? 0, quarks: fromUint64(quarks ?? 0) } : undefined;
  return { money, rate: parseExact(terms, money) };
}

interface VerifierSigned {
  domain?: v1.Domain.$Properties | null;
  verifier?: v1.ChainAccountId.$Properties | null;
  signature?: v1.Signature.$Properties | null;
  rendezvousKey?: v1.RendezvousKey.$Properties | null;
}

function readLogin(request: VerifierSigned, verifierBytes: Uint8Array, rendezvousKey: Uint8Array): RequestedLogin {
  const verifier = bytes32(request.verifier?.value, 'verifier');
  requireSameRendezvous(request.rendezvousKey?.value, rendezvousKey);
  const domain = parseVerifierDomain(request.domain?.domain ?? '');
  if (!verifySignature(requireVerifyingKey(verifier), verifierBytes, request.signature?.value ?? new Uint8Array())) {
    throw new IntentError('invalid_signature', 'The request is not signed by its verifier.');
  }
  return { domain, verifier: formatBase58(verifier) };
}

function requireSameRendezvous(named: Uint8Array | null | undefined, rendezvousKey: Uint8Array): void {
  if (!named || Buffer.compare(named, rendezvousKey) !== 0)
    throw malformed('The rendezvous key in the message is not the key of the intent.');
}

function bytes32(value: Uint8Array | null | undefined, field: string): Uint8Array {
  if (value?.length !== 32) throw malformed(`${field} must have 32 bytes.`);
  return value;
}

const malformed = (message: string): IntentError => new IntentError('malformed_message', message);
