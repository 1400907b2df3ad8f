import { decodeCanonical } from '../../intents/verify-intent.js';
import { formatBase58 } from '../../keys/base58.js';
import { encode, v1 } from '../../wire/codec.js';
import { operations } from '../../wire/envelope.js';
import { refusalOf, type TransportKind } from '../journal/journal-record.js';
import type { IntentStore, StoredIntent } from '../state/intent-store.js';
import { type MailboxMessage, messageIdOf, toWireMessage } from '../state/mailbox.js';
import type { SimulatorState } from '../state/simulator-state.js';
import { type OperationRequest, requireBytes32, requireSignature } from './request.js';

// States of a stream:
//   waiting     the intent does not exist yet; ends without a message after `maxWaitMs`
//   delivering  sends the unsent messages, one in each response, the terminal one last
//   idle        all messages are sent; the next message resumes delivery
//   ended       `intent_submitted` was delivered, or the signal was aborted

/** How long a stream waits for its intent to be created, in milliseconds. */
const maxWaitMs = 60_000;

/**
 * Messaging.openMessageStream (interface section 4.5, protocol section 5), independent of the transport. Yields serialized
 * OpenMessageStreamResponses with one message each. For a payment with login, the payment causes `intent_submitted`;
 * its login does not.
 * @throws {IntentError} `malformed_message`, `invalid_signature`, synchronously
 */
export function openMessageStream(
  state: SimulatorState,
  body: Uint8Array,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const request = decodeCanonical(v1.OpenMessageStreamRequest, body);
  const key = requireBytes32(request.rendezvousKey, 'rendezvous_key');
  requireSignature(v1.OpenMessageStreamRequest, request, key);
  return deliver(state.intents, formatBase58(key), signal);
}

async function* deliver(intents: IntentStore, id: string, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const intent = intents.get(id) ?? (await waitForIntent(intents, id, signal));
  if (!intent) return;
  let sent = new Set<string>();
  while (!signal.aborted) {
    const deliverable = deliverableOf(intent);
    const unsent = deliverable.filter((message) => !sent.has(messageIdOf(message)));
    // The terminal message is sent last, even if the mailbox has later messages.
    const message = unsent.find(({ intentSubmitted }) => !intentSubmitted) ?? unsent[0];
    if (!message) {
      await intent.mailbox.changed(signal);
      continue;
    }
    // Ids of acknowledged messages are removed, so the set never grows beyond the mailbox.
    const stillSent = deliverable.map(messageIdOf).filter((messageId) => sent.has(messageId));
    sent = new Set([...stillSent, messageIdOf(message)]);
    yield encode(v1.OpenMessageStreamResponse, { messages: [toWireMessage(message)] });
    if (message.intentSubmitted) return;
  }
}

async function waitForIntent(intents: IntentStore, id: string, signal: AbortSignal): Promise<StoredIntent | undefined> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), maxWaitMs).unref();
  const intent = await intents.whenCreated(id, AbortSignal.any([signal, timeout.signal]));
  clearTimeout(timer);
  return intent;
}

/** A reversed payment is no longer submitted, although its mailbox still holds `intent_submitted`. */
function deliverableOf({ mailbox, submitted }: StoredIntent): MailboxMessage[] {
  return mailbox.requestAndUnacknowledged.filter(({ intentSubmitted }) => !intentSubmitted || submitted);
}

/** Opens a message stream and records it in the journal. @throws as `openMessageStream` */
export function openRecordedStream(
  state: SimulatorState,
  body: Uint8Array,
  signal: AbortSignal,
  via: TransportKind,
): AsyncGenerator<Uint8Array, void> {
  const { journal } = state;
  const request = { ...operations.openMessageStream, body };
  const start = journal.start();
  const id = journal.idOf(request);
  const opened = { kind: 'stream', via, request: journal.copy(body) } as const;
  try {
    const stream = openMessageStream(state, body, signal);
    journal.add(id, { ...opened, refusal: undefined }, start);
    return recordDeliveries(state, request, stream, via, signal);
  } catch (error) {
    journal.add(id, { ...opened, refusal: refusalOf(error) }, start);
    throw error;
  }
}

async function* recordDeliveries(
  { journal }: SimulatorState,
  request: OperationRequest,
  stream: AsyncGenerator<Uint8Array, void>,
  via: TransportKind,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  let reason: 'complete' | 'disconnected' = 'disconnected';
  try {
    for await (const message of stream) {
      // The id is looked up at each delivery, because the intent may not exist when the stream is opened.
      journal.add(journal.idOf(request), { kind: 'delivery', via, message: journal.copy(message) });
      yield message;
    }
    if (!signal.aborted) reason = 'complete';
  } finally {
    journal.add(journal.idOf(request), { kind: 'stream-end', via, reason });
  }
}
