import { IntentError } from '../../errors.js';
import { signedBytesIn } from '../../intents/signed-intent.js';
import { decodeCanonical } from '../../intents/verify-intent.js';
import { formatBase58 } from '../../keys/base58.js';
import { verifySignature } from '../../keys/ed25519.js';
import { encode, v1 } from '../../wire/codec.js';
import { messagesIn } from '../../wire/signed-bytes.js';
import type { IntentRecord, IntentStore } from '../state/intent-store.js';
import { asSent } from '../state/mailbox.js';
import type { SequencerState } from '../state/sequencer-state.js';
import { keepIntent } from './create-intent.js';
import { readCreatedIntent, requireNoId } from './read-created-intent.js';
import { requireBytes32 } from './signed-request.js';

/** Messaging.sendMessage: creates an intent (the `messaging` dialect), or leaves a wallet's hint at its rendezvous. */
export async function sendMessage(state: SequencerState, body: Uint8Array): Promise<Uint8Array> {
  const request = decodeCanonical(v1.SendMessageRequest, body);
  const key = requireBytes32(request.rendezvousKey, 'rendezvous_key');
  const message = v1.Message.create(request.message ?? {});
  const signature = request.signature?.value ?? new Uint8Array();
  const signedBytes = signedBytesIn(messagesIn(body, 1)[0] ?? new Uint8Array());
  const messageId = isRequest(message)
    ? (await keepIntent(state, readCreatedIntent(message, key, signature, signedBytes))).mailbox.requestId
    : leaveHint(state, message, { key, signature, signedBytes });
  return encode(v1.SendMessageResponse, { messageId: { value: messageId } });
}

const isRequest = ({ requestToReceiveBill, requestToLogin }: v1.Message): boolean =>
  !!requestToReceiveBill || !!requestToLogin;

function leaveHint(
  { intents }: SequencerState,
  message: v1.Message,
  { key, signature, signedBytes }: Record<'key' | 'signature' | 'signedBytes', Uint8Array>,
): Uint8Array {
  requireNoId(message);
  if (!verifySignature(key, signedBytes, signature)) {
    throw new IntentError('invalid_signature', 'The message is not signed by its rendezvous key.');
  }
  const record = intents.require(formatBase58(key));
  noteHint(intents, record, message, key);
  return record.mailbox.add(asSent({ ...message, sendMessageRequestSignature: { value: signature } }, signedBytes));
}

/** Everybody who sees the code can sign these, so none of them changes what the intent is worth (protocol section 2). */
function noteHint(intents: IntentStore, record: IntentRecord, message: v1.Message, key: Uint8Array): void {
  const { codeScanned, clientRejectedPayment, clientRejectedLogin } = message;
  if (codeScanned) {
    intents.update(record, { codeScanned: true });
  } else if (clientRejectedPayment && record.request.kind === 'payment') {
    const named = clientRejectedPayment.intentId?.value;
    if (!named || Buffer.compare(named, key) !== 0) {
      throw new IntentError('malformed_message', 'The rejection names another intent.');
    }
    intents.update(record, { rejected: true });
  } else if (clientRejectedLogin && record.request.kind === 'login') {
    intents.update(record, { rejected: true });
  } else {
    throw new IntentError('not_supported', `A client cannot send this here: ${message.kind ?? 'no kind is set'}.`);
  }
}
