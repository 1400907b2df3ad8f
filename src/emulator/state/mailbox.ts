import { randomBytes } from 'node:crypto';
import { signedBytesOf } from '../../intents/signed-intent.js';
import type { v1 } from '../../wire/codec.js';
import { Subscribers } from './subscribers.js';

/** Messages in one mailbox, not counting the request. */
const capacity = 100;

/** A message at a rendezvous. */
export type MailMessage = v1.Message.$Properties & {
  /** The signed bytes, where encoding the message again would give other bytes. */
  readonly signedBytes?: Uint8Array;
};

/** A signed message with its signed bytes, so that readers get the bytes that were sent. */
export function asSent(message: MailMessage, signedBytes: Uint8Array): MailMessage {
  return Buffer.compare(signedBytes, signedBytesOf(message)) === 0 ? message : { ...message, signedBytes };
}

/** A message as readers get it: its id and signature, followed by the signed bytes. */
export function toReaders({ signedBytes, ...message }: MailMessage): v1.Message.$Properties {
  if (!signedBytes) return message;
  const { id = null, sendMessageRequestSignature = null } = message;
  return { id, sendMessageRequestSignature, $unknowns: [signedBytes] };
}

/** The content of a mailbox before a restart: each message with its id. */
export interface PersistedMessages {
  readonly request: MailMessage;
  readonly messages: readonly MailMessage[];
}

/**
 * The messages at one rendezvous. A message is undelivered until it is acknowledged, or until it makes room for a newer one.
 *
 * The request is never removed. The site's reader acknowledges everything it has seen, and a wallet that scans the code later
 * still needs the request.
 */
export class Mailbox {
  readonly #request: MailMessage;
  readonly #subscribers = new Subscribers();
  readonly #onChange: () => void;
  #messages: MailMessage[] = [];

  constructor(request: MailMessage, onChange: () => void = () => undefined) {
    this.#request = request.id ? request : { ...request, id: { value: newMessageId() } };
    this.#onChange = onChange;
  }

  /** Restores a mailbox after a restart. */
  static from({ request, messages }: PersistedMessages, onChange: () => void): Mailbox {
    const mailbox = new Mailbox(request, onChange);
    mailbox.#messages = [...messages];
    return mailbox;
  }

  get request(): MailMessage {
    return this.#request;
  }

  get requestId(): Uint8Array {
    return this.#request.id?.value ?? new Uint8Array();
  }

  /** The request first, then the messages in the order they came. */
  get undelivered(): MailMessage[] {
    return [this.#request, ...this.#messages];
  }

  /** Adds a message and returns its new id. A full mailbox drops the oldest message of a client first. */
  add(message: MailMessage): Uint8Array {
    const id = newMessageId();
    this.#messages.push({ ...message, id: { value: id } });
    if (this.#messages.length > capacity) {
      const oldestOfClient = this.#messages.findIndex((queued) => queued.sendMessageRequestSignature);
      this.#messages.splice(Math.max(oldestOfClient, 0), 1);
    }
    this.#onChange();
    this.#subscribers.notify();
    return id;
  }

  /** Resolves when a message is added, or when the signal is aborted. */
  changed(signal: AbortSignal): Promise<void> {
    return this.#subscribers.next(signal);
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

/** The MessageId in hex. */
export function messageIdOf({ id }: MailMessage): string {
  return hex(id?.value ?? new Uint8Array());
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
