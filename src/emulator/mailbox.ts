import { randomBytes } from 'node:crypto';
import type { v1 } from '../wire/codec.js';
import { Subscribers } from './subscribers.js';

/** Messages a rendezvous holds at most, besides the request itself. */
const capacity = 100;

/** What lay in a mailbox before a restart: each message with its id. */
export interface KeptMessages {
  readonly request: v1.Message.$Properties;
  readonly messages: readonly v1.Message.$Properties[];
}

/**
 * The messages at one rendezvous: the request, and what has not been acknowledged since.
 *
 * The request stays whatever is acknowledged. The site's reader acknowledges all it has seen, and a wallet that scans
 * the code later still has to find what it is asked for.
 */
export class Mailbox {
  readonly #request: v1.Message.$Properties;
  readonly #subscribers = new Subscribers();
  readonly #onChange: () => void;
  #messages: v1.Message.$Properties[] = [];

  constructor(request: v1.Message.$Properties, onChange: () => void = () => undefined) {
    this.#request = request.id ? request : { ...request, id: { value: newMessageId() } };
    this.#onChange = onChange;
  }

  /** The same again after a restart. */
  static from({ request, messages }: KeptMessages, onChange: () => void): Mailbox {
    const mailbox = new Mailbox(request, onChange);
    mailbox.#messages = [...messages];
    return mailbox;
  }

  get request(): v1.Message.$Properties {
    return this.#request;
  }

  get requestId(): Uint8Array {
    return this.#request.id?.value ?? new Uint8Array();
  }

  get undelivered(): v1.Message.$Properties[] {
    return [this.#request, ...this.#messages];
  }

  /** Queues a message under a new id, which it gives back. When full, the oldest hint of a client has to go. */
  add(message: v1.Message.$Properties): Uint8Array {
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
export function idOf({ id }: v1.Message.$Properties): string {
  return hex(id?.value ?? new Uint8Array());
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
