import { randomBytes } from 'node:crypto';
import { signedBytesOf } from '../../intents/signed-intent.js';
import type { v1 } from '../../wire/codec.js';
import { Subscribers } from './subscribers.js';

/** Messages a rendezvous holds at most, besides the request itself. */
const capacity = 100;

/** A message at a rendezvous. */
export type MailMessage = v1.Message.$Properties & {
  /** What its signature covers, where encoding it again would give other bytes. */
  readonly signedBytes?: Uint8Array;
};

/** A signed message with what its signature covers, so that readers get it as it was sent. */
export function asSent(message: MailMessage, signedBytes: Uint8Array): MailMessage {
  return Buffer.compare(signedBytes, signedBytesOf(message)) === 0 ? message : { ...message, signedBytes };
}

/** A message as readers get it: its id and signature, followed by the very bytes that are signed. */
export function toReaders({ signedBytes, ...message }: MailMessage): v1.Message.$Properties {
  if (!signedBytes) return message;
  const { id = null, sendMessageRequestSignature = null } = message;
  return { id, sendMessageRequestSignature, $unknowns: [signedBytes] };
}

/** What lay in a mailbox before a restart: each message with its id. */
export interface KeptMessages {
  readonly request: MailMessage;
  readonly messages: readonly MailMessage[];
}

/**
 * The messages at one rendezvous: the request, and what has not been acknowledged since.
 *
 * The request stays whatever is acknowledged. The site's reader acknowledges all it has seen, and a wallet that scans
 * the code later still has to find what it is asked for.
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

  /** The same again after a restart. */
  static from({ request, messages }: KeptMessages, onChange: () => void): Mailbox {
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

  get undelivered(): MailMessage[] {
    return [this.#request, ...this.#messages];
  }

  /** Queues a message under a new id, which it gives back. When full, the oldest hint of a client has to go. */
  add(message: MailMessage): Uint8Array {
    const id = newMessageId();
    this.#messages.push({ ...message, id: { value: id } });
    if (this.#messages.length > capacity) {
      const oldestHint = this.#messages.findIndex((queued) => queued.sendMessageRequestSignature);
      this.#messages.splice(Math.max(oldestHint, 0), 1);
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
    const known = new Set(ids.map(hex));
    const left = this.#messages.filter((message) => !known.has(idOf(message)));
    if (left.length === this.#messages.length) return;
    this.#messages = left;
    this.#onChange();
  }
}

const newMessageId = (): Uint8Array => new Uint8Array(randomBytes(16));

/** The MessageId, in hex. */
export function idOf({ id }: MailMessage): string {
  return hex(id?.value ?? new Uint8Array());
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
