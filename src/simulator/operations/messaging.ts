import { IntentError } from '../../errors.js';
import { extractSignedBytes } from '../../intents/signed-intent.js';
import { decodeCanonical } from '../../intents/verify-intent.js';
import { formatBase58 } from '../../keys/base58.js';
import { verifySignature } from '../../keys/ed25519.js';
import { requireVerifyingKey } from '../../keys/verifying-key.js';
import { decode, encode, v1 } from '../../wire/codec.js';
import { messagesIn } from '../../wire/fields.js';
import type { IntentStore, StoredIntent } from '../state/intent-store.js';
import { toWireMessage, withSignedBytes } from '../state/mailbox.js';
import type { SimulatorState } from '../state/simulator-state.js';
import { requireNoMessageId, verifyIntentMessage } from '../state/verified-intent.js';
import { storeIntent } from './intents.js';
import { requireBytes32, requireSignature } from './request.js';

interface SignedMessage {
  readonly message: v1.Message;
  readonly key: Uint8Array;
  readonly signature: Uint8Array;
  readonly signedBytes: Uint8Array;
}

/** Messaging.sendMessage: creates an intent (the `messaging` dialect), or adds a wallet's message to its rendezvous. */
export async function handleSendMessage(state: SimulatorState, body: Uint8Array): Promise<Uint8Array> {
  const request = decodeCanonical(v1.SendMessageRequest, body);
  const key = requireBytes32(request.rendezvousKey, 'rendezvous_key');
  const message = new v1.Message(request.message ?? {});
  const signature = request.signature?.value ?? new Uint8Array();
  const signedBytes = extractSignedBytes(messagesIn(body, 1)[0] ?? new Uint8Array());
  const isRequest = message.requestToReceiveBill || message.requestToLogin;
  const messageId = isRequest
    ? (await storeIntent(state, verifyIntentMessage(message, key, signature, signedBytes))).mailbox.requestId
    : addClientMessage(state.intents, { message, key, signature, signedBytes });
  return encode(v1.SendMessageResponse, { messageId: { value: messageId } });
}

function addClientMessage(intents: IntentStore, { message, key, signature, signedBytes }: SignedMessage): Uint8Array {
  requireNoMessageId(message);
  if (!verifySignature(requireVerifyingKey(key), signedBytes, signature)) {
    throw new IntentError('invalid_signature', 'The message is not signed by its rendezvous key.');
  }
  const intent = intents.require(formatBase58(key));
  applyClientMessage(intents, intent, message, key);
  return intent.mailbox.add(
    withSignedBytes({ ...message, sendMessageRequestSignature: { value: signature } }, signedBytes),
  );
}

/** Anyone with the code has the key that signs these messages, so none of them submits an intent (protocol section 2). */
function applyClientMessage(intents: IntentStore, intent: StoredIntent, message: v1.Message, key: Uint8Array): void {
  const { codeScanned, clientRejectedPayment, clientRejectedLogin } = message;
  if (codeScanned) {
    intents.update(intent, { scanned: true });
  } else if (clientRejectedPayment && intent.request.kind === 'payment') {
    const named = clientRejectedPayment.intentId?.value;
    if (!named || Buffer.compare(named, key) !== 0) {
      throw new IntentError('malformed_message', 'The rejection names another intent.');
    }
    intents.update(intent, { declined: true });
  } else if (clientRejectedLogin && intent.request.kind === 'login') {
    intents.update(intent, { declined: true });
  } else {
    throw new IntentError('not_supported', `A client cannot send this message: ${message.kind ?? 'no kind is set'}.`);
  }
}

/** Messaging.pollMessages (protocol section 5). An unknown rendezvous has no messages. */
export function handlePollMessages({ intents }: SimulatorState, body: Uint8Array): Uint8Array {
  const request = decodeCanonical(v1.PollMessagesRequest, body);
  const key = requireBytes32(request.rendezvousKey, 'rendezvous_key');
  requireSignature(v1.PollMessagesRequest, request, key);
  const messages = intents.get(formatBase58(key))?.mailbox.requestAndUnacknowledged ?? [];
  return encode(v1.PollMessagesResponse, { messages: messages.map(toWireMessage) });
}

/** Messaging.ackMessages (protocol section 5). Idempotent; unknown ids are ignored. */
export function handleAckMessages({ intents }: SimulatorState, body: Uint8Array): Uint8Array {
  const { rendezvousKey, messageIds } = decode(v1.AckMessagesRequest, body);
  const intent = intents.get(formatBase58(requireBytes32(rendezvousKey, 'rendezvous_key')));
  intent?.mailbox.acknowledge((messageIds ?? []).map(({ value }) => value ?? new Uint8Array()));
  return encode(v1.AckMessagesResponse, {});
}
