import { IntentError } from '../errors.js';
import type { IntentRequest } from '../intents/verify-intent.js';
import { Mailbox } from './mailbox.js';
import type { CreatedIntent } from './read-created-intent.js';
import { Subscribers } from './subscribers.js';

/** What the sequencer knows of an intent. */
export interface IntentRecord {
  /** Base58 */
  readonly id: string;
  readonly request: IntentRequest;
  /** The message as its signature covers it: what makes a second request the same request. */
  readonly signedBytes: Uint8Array;
  readonly mailbox: Mailbox;
  readonly createdAtMs: number;
  codeScanned: boolean;
  /** Said with the rendezvous key, which everybody has who sees the code: shown, never acted on. */
  rejected: boolean;
  submitted: boolean;
  /** The payer's account. */
  payer: Uint8Array | undefined;
  /** The user who logged in. */
  userId: Uint8Array | undefined;
  webhookUrl: URL | undefined;
}

/** The intents in memory, at most `capacity` of them: the oldest makes room for the newest. */
export class IntentStore {
  readonly #records = new Map<string, IntentRecord>();
  readonly #subscribers = new Subscribers();
  readonly #capacity: number;

  constructor(capacity = 10_000) {
    this.#capacity = capacity;
  }

  /** @throws {IntentError} `intent_not_found` */
  require(id: string): IntentRecord {
    const record = this.#records.get(id);
    if (!record) throw new IntentError('intent_not_found', `There is no intent ${id}.`);
    return record;
  }

  get(id: string): IntentRecord | undefined {
    return this.#records.get(id);
  }

  /** The record of an intent, as soon as there is one; undefined when the signal is aborted before. */
  async whenCreated(id: string, signal: AbortSignal): Promise<IntentRecord | undefined> {
    while (!this.#records.has(id) && !signal.aborted) await this.#subscribers.next(signal);
    return this.#records.get(id);
  }

  /**
   * The record of this very request, when there is one: sending it again changes nothing (protocol section 6).
   * @throws {IntentError} `malformed_message` when its rendezvous has other details
   */
  find({ id, signedBytes }: CreatedIntent): IntentRecord | undefined {
    const record = this.#records.get(id);
    if (record && Buffer.compare(record.signedBytes, signedBytes) !== 0) {
      throw new IntentError('malformed_message', `The intent ${id} exists with other details.`);
    }
    return record;
  }

  /** Adds an intent that `find` did not know. */
  add({ id, request, signedBytes, message }: CreatedIntent, createdAtMs: number): IntentRecord {
    const record: IntentRecord = {
      id,
      request,
      signedBytes,
      mailbox: new Mailbox(message),
      createdAtMs,
      codeScanned: false,
      rejected: false,
      submitted: false,
      payer: undefined,
      userId: undefined,
      webhookUrl: undefined,
    };
    this.#records.set(id, record);
    const [oldest] = this.#records.keys();
    if (oldest !== undefined && this.#records.size > this.#capacity) this.#records.delete(oldest);
    this.#subscribers.notify();
    return record;
  }

  /** From now on it is as if the intent had never been. */
  forget(id: string | undefined): void {
    if (id !== undefined) this.#records.delete(id);
  }

  /** The newest first. */
  recent(count: number): IntentRecord[] {
    return [...this.#records.values()].slice(-count).reverse();
  }
}
