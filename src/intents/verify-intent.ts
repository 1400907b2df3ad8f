import { IntentError } from '../errors.js';
import { formatBase58 } from '../keys/base58.js';
import { verifySignature } from '../keys/ed25519.js';
import { parseVerifierDomain } from '../keys/verifier-domain.js';
import { decode, decodeWithUnknown, encode, fromUint64, type v1 } from '../wire/codec.js';
import { addsDefaultsAlone, messagesIn, withoutFields } from '../wire/signed-bytes.js';
import { nativeCurrency } from './currency.js';
import { type Money, moneyOfQuarks, parseMoney, toNativeAmount, toQuarks } from './money.js';
import type { Payload } from './payload.js';
import { signedBytesOf } from './signed-intent.js';

/** The site of a login, as a verified intent states it. */
export interface StatedLogin {
  /** Bare registrable name, such as `example.com`. */
  readonly domain: string;
  /** Public key of the verifier, Base58. */
  readonly verifier: string;
}

/** The request in a verified intent. */
export type IntentRequest =
  | {
      readonly kind: 'payment';
      readonly money: Money;
      /** Base58 */
      readonly destination: string;
      readonly login: StatedLogin | undefined;
    }
  | { readonly kind: 'login'; readonly login: StatedLogin };

/**
 * Parses a message and requires its canonical form, so that nothing is signed that was not understood. Defaults may be
 * written out, as some encoders do. Unknown fields and any other spelling are refused.
 * @throws {IntentError} `malformed_message`
 */
export function decodeCanonical<Decoded>(codec: Codec<Decoded>, bytes: Uint8Array): Decoded {
  const message = decode(codec, bytes);
  const canonical = encode(codec, message);
  if (Buffer.compare(canonical, bytes) === 0) return message;
  const withUnknown = encode(codec, decodeWithUnknown(codec, bytes));
  if (Buffer.compare(canonical, withUnknown) === 0 && addsDefaultsAlone(bytes, canonical)) return message;
  throw new IntentError('malformed_message', 'The message has unknown fields or is not in its canonical form.');
}

interface Codec<Decoded> {
  encode(message: Decoded): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Decoded;
}

/**
 * Verifies a signed intent as a sequencer or a wallet does: both signatures, its form and its limits
 * (interface sections 2.4, 2.5, 5 and 8). Only the embedded sequencer and its wallet call this: a site does not receive intents.
 *
 * @param message decoded by `decodeCanonical`, alone or as a part of a larger message
 * @param rendezvousKey 32 bytes
 * @param signature by the rendezvous key, 64 bytes
 * @param signedBytes the bytes that it covers, as they were sent
 * @throws {IntentError} `invalid_signature`, `malformed_message`, `not_supported`, or a code of the terms
 */
export function verifyIntent(
  message: v1.Message,
  rendezvousKey: Uint8Array,
  signature: Uint8Array,
  signedBytes: Uint8Array = signedBytesOf(message),
): IntentRequest {
  if (!verifySignature(rendezvousKey, signedBytes, signature)) {
    throw new IntentError('invalid_signature', 'The intent is not signed by its rendezvous key.');
  }
  const { requestToReceiveBill, requestToLogin } = message;
  const verifierBytes = verifierBytesIn(signedBytes);
  if (requestToReceiveBill) return readPayment(requestToReceiveBill, verifierBytes, rendezvousKey);
  if (requestToLogin) return { kind: 'login', login: readLogin(requestToLogin, verifierBytes, rendezvousKey) };
  throw new IntentError('not_supported', 'Only payment requests and logins can be created.');
}

/** Whether a scanned payload and the request at its rendezvous have the same kind, currency and amount. */
export function agrees(payload: Payload, request: IntentRequest): boolean {
  if (payload.kind === 'login' || request.kind === 'login') return payload.kind === request.kind;
  // Compared as doubles, as they are sent: from 2^46 units on, two amounts can share one.
  return (
    payload.money.currency === request.money.currency && toNativeAmount(payload.money) === toNativeAmount(request.money)
  );
}

/** The rendezvous key that an intent names. A plain payment of the `messaging` dialect names none. */
export function namedRendezvous(message: v1.Message): Uint8Array | undefined {
  const { requestToReceiveBill, requestToLogin } = message;
  return (requestToReceiveBill ?? requestToLogin)?.rendezvousKey?.value ?? undefined;
}

/** The bytes that the verifier's signature covers: the RequestToReceiveBill or RequestToLogin inside a message. */
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
  const money = readMoney(request);
  const destination = formatBase58(bytes32(request.requestorAccount?.value, 'requestor_account'));
  const { domain, verifier, signature } = request;
  if (domain || verifier || signature) {
    const login = readLogin(request, verifierBytes, rendezvousKey);
    return { kind: 'payment', money, destination, login };
  }
  if (request.rendezvousKey) requireSameRendezvous(request.rendezvousKey.value, rendezvousKey);
  return { kind: 'payment', money, destination, login: undefined };
}

function readMoney({ exact, partial }: v1.RequestToReceiveBill.$Properties): Money {
  const data = exact ?? partial;
  if (!data || (exact && partial)) throw malformed('Exactly one of exact and partial must be set.');
  const money = parseMoney(data.nativeAmount ?? 0, data.currency ?? '');
  if (!!exact !== (money.currency === nativeCurrency)) {
    throw malformed(`exact is for ${nativeCurrency} only.`);
  }
  return exact ? readExact(exact) : money;
}

// The quarks are exact. The double is not, for a very large amount.
function readExact({ exchangeRate, nativeAmount, quarks: sent }: v1.ExchangeData.$Properties): Money {
  const quarks = fromUint64(sent ?? 0);
  const money = moneyOfQuarks(quarks);
  if (exchangeRate !== 1 || toQuarks(money) !== quarks || toNativeAmount(money) !== nativeAmount) {
    throw malformed('The exchange rate or the quarks do not fit the amount.');
  }
  return money;
}

interface VerifierSigned {
  domain?: v1.Domain.$Properties | null;
  verifier?: v1.ChainAccountId.$Properties | null;
  signature?: v1.Signature.$Properties | null;
  rendezvousKey?: v1.RendezvousKey.$Properties | null;
}

function readLogin(request: VerifierSigned, verifierBytes: Uint8Array, rendezvousKey: Uint8Array): StatedLogin {
  const verifier = bytes32(request.verifier?.value, 'verifier');
  requireSameRendezvous(request.rendezvousKey?.value, rendezvousKey);
  const domain = parseVerifierDomain(request.domain?.domain ?? '');
  if (!verifySignature(verifier, verifierBytes, request.signature?.value ?? new Uint8Array())) {
    throw new IntentError('invalid_signature', 'The request is not signed by its verifier.');
  }
  return { domain, verifier: formatBase58(verifier) };
}

function requireSameRendezvous(named: Uint8Array | null | undefined, rendezvousKey: Uint8Array): void {
  if (!named || Buffer.compare(named, rendezvousKey) !== 0)
    throw malformed('The message names another rendezvous key.');
}

function bytes32(value: Uint8Array | null | undefined, field: string): Uint8Array {
  if (value?.length !== 32) throw malformed(`${field} must have 32 bytes.`);
  return value;
}

const malformed = (message: string): IntentError => new IntentError('malformed_message', message);
