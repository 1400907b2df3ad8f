import { randomBytes } from 'node:crypto';
import { encodeSignedBytes } from '../../intents/signed-intent.js';
import type { v1 } from '../../wire/codec.js';
import { ChangeNotifier } from './change-notifier.js';

/** Limit of messages in one mailbox, without the request. */
const capacity = 100;

export type MailboxMessage = v1.Message.$Properties & {
  /** The bytes that the client signed, if they differ from the encoding of the message by this package. */
  readonly signedBytes?: Uint8Array;
};

/** Keeps the signed bytes of a message if its encoding differs from them. */
export function withSignedBytes(message: MailboxMessage, signedBytes: Uint8Array): MailboxMessage {
  return Buffer.compare(signedBytes, encodeSignedBytes(message)) === 0 ? message : { ...message, signedBytes };
}

/** The message to encode for readers: its id and signature, followed by the signed bytes. */
export function toWireMessage({ signedBytes, ...message }: MailboxMessage): v1.Message.$Properties {
  if (!signedBytes) return message;
  const { id = null, sendMessageRequestSignature = null } = message;
  return { id, sendMessageRequestSignature, $unknowns: [signedBytes] };
}

/** The content of a mailbox before a restart: each message with its id. */
export interface PersistedMessages {
  readonly request: MailboxMessage;
  readonly messages: readonly MailboxMessage[];
}

/**
 * The messages at one rendezvous. A message stays until it is acknowledged, or until a full mailbox drops it.
 *
 * The request is never removed: the site acknowledges every message that it reads, and a wallet that scans the code later still
 * needs the request.
 */
export class Mailbox {
  readonly #request: MailboxMessage;
  readonly #changes = new ChangeNotifier();
  readonly #onChange: () => void;
  #messages: MailboxMessage[] = [];

  constructor(request: MailboxMessage, onChange: () => void = () => undefined) {
    this.#request = request.id ? request : { ...request, id: { value: newMessageId() } };
    this.#onChange = onChange;
  }

  static from({ request, messages }: PersistedMessages, onChange: () => void): Mailbox {
    const mailbox = new Mailbox(request, onChange);
    mailbox.#messages = [...messages];
    return mailbox;
  }

  get request(): MailboxMessage {
    return this.#request;
  }

  get requestId(): Uint8Array {
    return this.#request.id?.value ?? new Uint8Array();
  }

  /** The request, then the messages, the oldest first. */
  get requestAndUnacknowledged(): MailboxMessage[] {
    return [this.#request, ...this.#messages];
  }

  /** Adds a message and returns its new id. A full mailbox drops the oldest message of a client first. */
  add(message: MailboxMessage): Uint8Array {
    const id = newMessageId();
    this.#messages.push({ ...message, id: { value: id } });
    if (this.#messages.length > capacity) {
      const oldestOfClient = this.#messages.findIndex((queued) => queued.sendMessageRequestSignature);
      this.#messages.splice(Math.max(oldestOfClient, 0), 1);
    }
    this.#onChange();
    this.#changes.notify();
    return id;
  }

  changed(signal: AbortSignal): Promise<void> {
    return this.#changes.next(signal);
  }

  acknowledge(ids: readonly Uint8Array[]): void {
    const acknowledged = new Set(ids.map(hex));
    const left = this.#messages.filter((message) => !acknowledged.has(messageIdOf(message)));
    if (left.length === this.#messages.length) return;
    this.#messages = left;
    this.#onChange();
  }
}

const newMessageId = (): Uint8Array => new Uint8Array(randomBytes(16));

export function messageIdOf({ id }: MailboxMessage): string {
  return hex(id?.value ?? new Uint8Array());
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
