import { formatBase58 } from '../../keys/base58.js';
import { decode, v1 } from '../../wire/codec.js';
import { messagesIn } from '../../wire/signed-bytes.js';
import type { IntentEvent } from './intent-event.js';
import { claimedKindOf, eventOf } from './read-message.js';

/**
 * Messages of one rendezvous that are looked at, at most: as many of clients, and as many of the service. Whoever has seen
 * the code can send without end, and must not be able to drown what the service says.
 */
const maxMessages = 256;
/** A MessageId has 16 bytes (protocol section 3); a service may choose longer ones, but not of any length. */
const maxIdBytes = 64;

/** Reads what comes over the message stream of one intent, which is delivered at least once and in any order. */
export class MessageInbox {
  readonly #rendezvousKey: Uint8Array;
  readonly #seen = { client: new Set<string>(), service: new Set<string>() };
  /** Signatures that did not verify: to check them without end would keep the process from everything else. */
  #forged = 0;

  constructor(rendezvousKey: Uint8Array) {
    this.#rendezvousKey = rendezvousKey;
  }

  /** The new events of one OpenMessageStreamResponse; undefined where the bytes are none. */
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
    // What was not believed must not stand in the way of another message of the same id.
    if (event) seen.add(key);
    else if (isSigned) this.#forged += 1;
    return event;
  }
}

/** The messages, each with its bytes as they were sent. */
function decodeMessages(response: Uint8Array): { message: v1.Message; sent: Uint8Array | undefined }[] | undefined {
  try {
    const messages = (decode(v1.OpenMessageStreamResponse, response).messages ?? []) as v1.Message[];
    const sent = messagesIn(response, 1);
    return messages.map((message, index) => ({ message, sent: sent[index] }));
  } catch {
    return undefined;
  }
}
