import { signedBytesIn, signedBytesOf } from '../../intents/signed-intent.js';
import { decodeCanonical } from '../../intents/verify-intent.js';
import { formatBase58 } from '../../keys/base58.js';
import { verifySignature } from '../../keys/ed25519.js';
import { encode, v1 } from '../../wire/codec.js';
import type { IntentEvent, IntentEventKind } from './intent-event.js';

type Kind = NonNullable<v1.Message['kind']>;
type Timestamp = v1.CodeScanned.$Properties['timestamp'];

/** What a wallet says, signed by the rendezvous key. */
const hintKinds: Partial<Record<Kind, IntentEventKind>> = {
  codeScanned: 'code_scanned',
  clientRejectedPayment: 'client_rejected_payment',
  clientRejectedLogin: 'client_rejected_login',
};
/** What only the service says; it signs nothing. */
const serviceKinds: Partial<Record<Kind, IntentEventKind>> = {
  airdropReceived: 'airdrop_received',
  webhookCalled: 'webhook_called',
  intentSubmitted: 'intent_submitted',
};

/**
 * The event in a message that came from the rendezvous (interface sections 2.3 and 6), or undefined where there is none:
 * the request itself, a signature that does not verify, or a client that claims what only the service may say. Whoever
 * has seen the code can sign, so even a signature that verifies makes a hint and no fact (protocol section 2).
 * @param sent the message as it came
 */
export function eventOf(message: v1.Message, rendezvousKey: Uint8Array, sent?: Uint8Array): IntentEvent | undefined {
  const { id, sendMessageRequestSignature: signature } = message;
  const kind = claimedKindOf(message);
  if (!kind || !id?.value?.length || namesAnother(message, rendezvousKey)) return undefined;
  const covered = signature && [signedBytesOf(message), ...(sent ? defaultsWrittenOut(sent) : [])];
  if (covered?.every((bytes) => !verifySignature(rendezvousKey, bytes, signature?.value ?? new Uint8Array()))) {
    return undefined;
  }
  const timestampMs = readTimestamp(timestampOf(message));
  return { kind, id: formatBase58(id.value), ...(timestampMs !== undefined && { timestampMs }) };
}

/** What a signature covers by an encoder that writes defaults out; nothing where the message is in its canonical form. */
function defaultsWrittenOut(sent: Uint8Array): Uint8Array[] {
  try {
    const canonical = encode(v1.Message, decodeCanonical(v1.Message, sent));
    return Buffer.compare(canonical, sent) === 0 ? [] : [signedBytesIn(sent)];
  } catch {
    return [];
  }
}

/** What a message would be if it were true; undefined for the request itself, and for what its sender may not say. */
export function claimedKindOf({
  kind: field,
  sendMessageRequestSignature: signature,
}: v1.Message): IntentEventKind | undefined {
  return field && (signature ? hintKinds[field] : (hintKinds[field] ?? serviceKinds[field]));
}

function namesAnother({ clientRejectedPayment, intentSubmitted }: v1.Message, rendezvousKey: Uint8Array): boolean {
  const named = (clientRejectedPayment ?? intentSubmitted)?.intentId?.value;
  return !!named && Buffer.compare(named, rendezvousKey) !== 0;
}

function timestampOf({ codeScanned, clientRejectedLogin, webhookCalled, airdropReceived }: v1.Message): Timestamp {
  return (codeScanned ?? clientRejectedLogin ?? webhookCalled ?? airdropReceived)?.timestamp;
}

/** Up to the end of the year 9999, as the message type is defined; what a stranger may have written besides is no time. */
function readTimestamp(timestamp: Timestamp): number | undefined {
  if (!timestamp) return undefined;
  const [seconds, nanos] = [Number(timestamp.seconds ?? 0), timestamp.nanos ?? 0];
  const isTime = seconds >= 0 && seconds <= 253_402_300_799 && nanos >= 0 && nanos < 1e9;
  return isTime ? seconds * 1000 + Math.floor(nanos / 1e6) : undefined;
}
