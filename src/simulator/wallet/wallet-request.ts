import { IntentError } from '../../errors.js';
import type { RecordedExact } from '../../intents/exact-terms.js';
import { formatAmount } from '../../intents/money.js';
import {
  decodePayload,
  intentIdOf,
  type Payload,
  parseClientSecret,
  rendezvousKeyPair,
} from '../../intents/payload.js';
import { bytesToSign } from '../../intents/signed-intent.js';
import { type IntentRequest, matchesRequest, type RequestedLogin, verifyIntent } from '../../intents/verify-intent.js';
import type { KeyPair } from '../../keys/ed25519.js';
import { v1 } from '../../wire/codec.js';
import { operations } from '../../wire/envelope.js';
import { intentNotFound } from '../state/intent-store.js';
import { callSequencer } from './call-sequencer.js';

/** The payment or login request of a code. */
export interface WalletRequest {
  /** The intent id, Base58. */
  readonly id: string;
  /** `payment` also for a payment with login. */
  readonly kind: 'payment' | 'login';
  /** Decimal string with two decimal places; payments only. */
  readonly amount?: string;
  /** Lowercase three-letter code; payments only. */
  readonly currency?: string;
  /** The fixed rate; only payments that have one, among them all in `kin`. */
  readonly exact?: RecordedExact;
  /** Account that receives the payment, Base58; payments only. */
  readonly destination?: string;
  /** The site of the login; for logins and payments with login. */
  readonly login?: RequestedLogin;
}

export interface OpenedCode {
  readonly id: string;
  readonly payload: Payload;
  readonly rendezvous: KeyPair;
}

/**
 * Decodes a client secret, alone or as the fragment of a link, which may also have return addresses.
 * @throws {IntentError} `invalid_client_secret`, `unknown_currency`
 */
export function openCode(code: string): OpenedCode {
  if (typeof code !== 'string') throw new IntentError('invalid_client_secret', 'The code must be a string.');
  const [clientSecret = ''] = code.slice(code.indexOf('#') + 1).split('&');
  const bytes = parseClientSecret(clientSecret.trim());
  const rendezvous = rendezvousKeyPair(bytes);
  return { id: intentIdOf(rendezvous), payload: decodePayload(bytes), rendezvous };
}

/**
 * Fetches the request of a code and verifies it: its signatures, and that its kind, currency and amount match the code
 * (protocol section 6).
 * @throws {IntentError} `intent_not_found`, `invalid_signature`, `malformed_message`, `sequencer_...`
 */
export async function fetchRequest(url: string, { id, payload, rendezvous }: OpenedCode): Promise<WalletRequest> {
  const message = await fetchMessage(url, rendezvous);
  if (!message) throw intentNotFound(id);
  const signature = message.sendMessageRequestSignature?.value ?? new Uint8Array();
  const request = verifyIntent(message, rendezvous.publicKey, signature);
  if (!matchesRequest(payload, request)) {
    throw new IntentError('malformed_message', 'The request does not match its code.');
  }
  return describe(id, request);
}

async function fetchMessage(url: string, rendezvous: KeyPair): Promise<v1.Message | undefined> {
  const unsigned = { rendezvousKey: { value: rendezvous.publicKey } };
  const { messages } = await callSequencer(
    url,
    { operation: operations.pollMessages, request: v1.PollMessagesRequest, response: v1.PollMessagesResponse },
    { ...unsigned, signature: { value: rendezvous.sign(bytesToSign(v1.PollMessagesRequest, unsigned)) } },
  );
  const found = messages?.find(({ requestToReceiveBill, requestToLogin }) => requestToReceiveBill || requestToLogin);
  return found && new v1.Message(found);
}

function describe(id: string, request: IntentRequest): WalletRequest {
  if (request.kind === 'login') return { id, kind: 'login', login: request.login };
  const { money, rate, destination, login } = request;
  return {
    id,
    kind: 'payment',
    amount: formatAmount(money),
    currency: money.currency,
    ...(rate && { exact: { exchangeRate: rate.exchangeRate, quarks: String(rate.quarks) } }),
    destination,
    ...(login && { login }),
  };
}
