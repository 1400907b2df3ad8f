import { decodeCanonical } from '../../intents/verify-intent.js';
import { formatBase58 } from '../../keys/base58.js';
import { encode, v1 } from '../../wire/codec.js';
import type { IntentRecord, IntentStore } from '../state/intent-store.js';
import { idOf, type MailMessage, toReaders } from '../state/mailbox.js';
import type { SequencerState } from '../state/sequencer-state.js';
import { requireBytes32, requireSignature } from './signed-request.js';

/** How long a stream waits for an intent to be created at its rendezvous, in milliseconds. */
const patienceMs = 60_000;

/**
 * Messaging.openMessageStream (interface section 4.5, protocol section 5), whatever carries it: the serialized
 * OpenMessageStreamResponses, one message in each. First what lies at the rendezvous, then what comes; it ends after
 * `intent_submitted`, which for a payment that logs in is the payment. Where no intent is yet it waits for one, a minute
 * at most, and then ends without a message. Ends early when `signal` is aborted.
 * @throws {IntentError} `malformed_message`, `invalid_signature`: at once, before there is a stream
 */
export function openMessageStream(
  state: SequencerState,
  body: Uint8Array,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const request = decodeCanonical(v1.OpenMessageStreamRequest, body);
  const key = requireBytes32(request.rendezvousKey, 'rendezvous_key');
  requireSignature(v1.OpenMessageStreamRequest, request, key);
  return deliver(state, formatBase58(key), signal);
}

async function* deliver(
  { intents }: SequencerState,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const record = intents.get(id) ?? (await waitForIntent(intents, id, signal));
  if (!record) return;
  let sent = new Set<string>();
  while (!signal.aborted) {
    const deliverable = deliverableOf(record);
    // The terminal message comes last, also where something was said after it.
    const unsent = deliverable.filter((message) => !sent.has(idOf(message)));
    const message = unsent.find(({ intentSubmitted }) => !intentSubmitted) ?? unsent[0];
    if (message) {
      // What is gone from the mailbox need not be remembered.
      sent = new Set(
        deliverable
          .map(idOf)
          .filter((known) => sent.has(known))
          .concat(idOf(message)),
      );
      yield encode(v1.OpenMessageStreamResponse, { messages: [toReaders(message)] });
      if (message.intentSubmitted) return;
    } else {
      await record.mailbox.changed(signal);
    }
  }
}

async function waitForIntent(intents: IntentStore, id: string, signal: AbortSignal): Promise<IntentRecord | undefined> {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), patienceMs).unref();
  const record = await intents.whenCreated(id, AbortSignal.any([signal, patience.signal]));
  clearTimeout(timer);
  return record;
}

/** A payment that failed after all is no longer submitted, whatever was said before. */
function deliverableOf({ mailbox, submitted }: IntentRecord): MailMessage[] {
  return mailbox.undelivered.filter(({ intentSubmitted }) => !intentSubmitted || submitted);
}
