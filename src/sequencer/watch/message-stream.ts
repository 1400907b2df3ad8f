import { IntentError } from '../../errors.js';
import { intentIdOf, parseClientSecret, rendezvousKeyPair } from '../../intents/payload.js';
import { bytesToSign, encodeSignedBytes, extractSignedBytes } from '../../intents/signed-intent.js';
import { decodeCanonical } from '../../intents/verify-intent.js';
import { formatBase58 } from '../../keys/base58.js';
import { verifySignature } from '../../keys/ed25519.js';
import { decode, encode, v1 } from '../../wire/codec.js';
import { messagesIn } from '../../wire/fields.js';
import type { IntentEvent, IntentEventKind } from './intent-event.js';

export interface StreamRequest {
  readonly rendezvousKey: Uint8Array;
  /** The serialized OpenMessageStreamRequest, signed by the rendezvous key. */
  readonly body: Uint8Array;
}

/** @throws {IntentError} `invalid_client_secret`, also for the secret of another intent */
export function signStreamRequest(id: string, clientSecret: string): StreamRequest {
  const rendezvous = rendezvousKeyPair(parseClientSecret(clientSecret));
  if (intentIdOf(rendezvous) !== id) {
    throw new IntentError(
      'invalid_client_secret',
      'The client secret belongs to another intent. Pass the id and the client secret of the same intent.',
    );
  }
  const codec = v1.OpenMessageStreamRequest;
  const unsigned = { rendezvousKey: { value: rendezvous.publicKey } };
  const signature = { value: rendezvous.sign(bytesToSign(codec, unsigned)) };
  return { rendezvousKey: rendezvous.publicKey, body: encode(codec, { ...unsigned, signature }) };
}

/**
 * The maximum number of client messages, and of service messages. The two are counted separately: anyone who has seen
 * the code can flood the stream with client messages, which must not displace those of the service.
 */
const maxMessages = 256;
/** A MessageId has 16 bytes (protocol section 3). Longer ones are accepted up to this. */
const maxIdBytes = 64;

/** Reads the message stream of one intent, which delivers each message at least once and in any order. */
export class MessageInbox {
  readonly #rendezvousKey: Uint8Array;
  readonly #seen = { client: new Set<string>(), service: new Set<string>() };
  /** Signatures that did not verify. Limited, because verification blocks the process. */
  #forged = 0;

  constructor(rendezvousKey: Uint8Array) {
    this.#rendezvousKey = rendezvousKey;
  }

  /** The new events of one OpenMessageStreamResponse. Undefined if the bytes cannot be decoded. */
  read(response: Uint8Array): IntentEvent[] | undefined {
    return decodeMessages(response)?.flatMap(({ message, sent }) => this.#newEventOf(message, sent) ?? []);
  }

  #newEventOf(message: v1.Message, sent: Uint8Array | undefined): IntentEvent | undefined {
    const id = message.id?.value ?? new Uint8Array();
    const isSigned = !!message.sendMessageRequestSignature;
    if (!claimedKindOf(message) || (isSigned && this.#forged >= maxMessages)) return undefined;
    if (id.length === 0 || id.length > maxIdBytes) return undefined;
    const seen = isSigned ? this.#seen.client : this.#seen.service;
    const key = formatBase58(id);
    if (seen.has(key) || seen.size >= maxMessages) return undefined;
    const event = eventOf(message, this.#rendezvousKey, sent);
    // A rejected message must not block another one with the same id.
    if (event) seen.add(key);
    else if (isSigned) this.#forged += 1;
    return event;
  }
}

/** The messages, each with its received bytes. */
function decodeMessages(response: Uint8Array): { message: v1.Message; sent: Uint8Array | undefined }[] | undefined {
  try {
    const messages = (decode(v1.OpenMessageStreamResponse, response).messages ?? []) as v1.Message[];
    const sent = messagesIn(response, 1);
    return messages.map((message, index) => ({ message, sent: sent[index] }));
  } catch {
    return undefined;
  }
}

type Kind = NonNullable<v1.Message['kind']>;
type Timestamp = v1.CodeScanned.$Properties['timestamp'];

/** Messages of wallets, signed with the rendezvous key. */
const clientKinds: Partial<Record<Kind, IntentEventKind>> = {
  codeScanned: 'code_scanned',
  clientRejectedPayment: 'client_rejected_payment',
  clientRejectedLogin: 'client_rejected_login',
};
/** Messages that only the service may send. The service does not sign. */
const serviceKinds: Partial<Record<Kind, IntentEventKind>> = {
  airdropReceived: 'airdrop_received',
  webhookCalled: 'webhook_called',
  intentSubmitted: 'intent_submitted',
};

/**
 * The event in a message of the stream (interface sections 2.3 and 6). Undefined for the request itself, for a message
 * without an id or about another intent, for a signature that does not verify, and for a client message of a kind that
 * only the service may send. Anyone who has seen the code can sign: a signed message is only a hint (protocol section 2).
 * @param sent the received bytes of the message
 */
export function eventOf(message: v1.Message, rendezvousKey: Uint8Array, sent?: Uint8Array): IntentEvent | undefined {
  const { id, sendMessageRequestSignature: signature } = message;
  const kind = claimedKindOf(message);
  if (!kind || !id?.value?.length || namesOtherIntent(message, rendezvousKey)) return undefined;
  const covered = signature && [encodeSignedBytes(message), ...(sent ? signedBytesWithDefaults(sent) : [])];
  if (covered?.every((bytes) => !verifySignature(rendezvousKey, bytes, signature?.value ?? new Uint8Array()))) {
    return undefined;
  }
  const timestampMs = readTimestamp(timestampOf(message));
  return { kind, id: formatBase58(id.value), ...(timestampMs !== undefined && { timestampMs }) };
}

/** The signed bytes, if the sender's encoder wrote default values explicitly. None if the message is canonical. */
function signedBytesWithDefaults(sent: Uint8Array): Uint8Array[] {
  try {
    const canonical = encode(v1.Message, decodeCanonical(v1.Message, sent));
    return Buffer.compare(canonical, sent) === 0 ? [] : [extractSignedBytes(sent)];
  } catch {
    return [];
  }
}

/** The event that a message claims. Undefined for the request itself, and for a kind that its sender may not send. */
function claimedKindOf({
  kind: field,
  sendMessageRequestSignature: signature,
}: v1.Message): IntentEventKind | undefined {
  return field && (signature ? clientKinds[field] : (clientKinds[field] ?? serviceKinds[field]));
}

function namesOtherIntent({ clientRejectedPayment, intentSubmitted }: v1.Message, rendezvousKey: Uint8Array): boolean {
  const named = (clientRejectedPayment ?? intentSubmitted)?.intentId?.value;
  return !!named && Buffer.compare(named, rendezvousKey) !== 0;
}

function timestampOf({ codeScanned, clientRejectedLogin, webhookCalled, airdropReceived }: v1.Message): Timestamp {
  return (codeScanned ?? clientRejectedLogin ?? webhookCalled ?? airdropReceived)?.timestamp;
}

/** In milliseconds, up to the end of the year 9999, the limit of the type. Untrusted input. */
function readTimestamp(timestamp: Timestamp): number | undefined {
  if (!timestamp) return undefined;
  const [seconds, nanos] = [Number(timestamp.seconds ?? 0), timestamp.nanos ?? 0];
  const isTime = seconds >= 0 && seconds <= 253_402_300_799 && nanos >= 0 && nanos < 1e9;
  return isTime ? seconds * 1000 + Math.floor(nanos / 1e6) : undefined;
}
