import { IntentError } from '../../errors.js';
import type { IntentRequest } from '../../intents/verify-intent.js';
import type { CreatedIntent } from '../operations/read-created-intent.js';
import { type KeptMessages, Mailbox } from './mailbox.js';
import { Subscribers } from './subscribers.js';

/** What becomes of an intent. */
export interface IntentProgress {
  readonly codeScanned: boolean;
  /** Said with the rendezvous key, which everybody has who sees the code: shown, never acted on. */
  readonly rejected: boolean;
  readonly submitted: boolean;
  /** It was submitted once, and its transactions failed. */
  readonly reversed: boolean;
  /** The payer's account. */
  readonly payer: Uint8Array | undefined;
  /** The user who logged in. */
  readonly userId: Uint8Array | undefined;
  readonly webhookUrl: URL | undefined;
  /** By a person at the inspector, to find it again. */
  readonly marked: boolean;
}

/** What the sequencer knows of an intent. It changes by `IntentStore.update` alone, so that no change is missed. */
export interface IntentRecord extends IntentProgress {
  /** Base58 */
  readonly id: string;
  readonly request: IntentRequest;
  /** The message as its signature covers it: what makes a second request the same request. */
  readonly signedBytes: Uint8Array;
  readonly mailbox: Mailbox;
  readonly createdAtMs: number;
}

/** An intent from before a restart. */
export interface KeptIntent {
  readonly intent: CreatedIntent;
  readonly createdAtMs: number;
  readonly progress: IntentProgress;
  readonly mail: KeptMessages;
}

/** Where intents are written, so that they outlive the process. */
export interface IntentArchive {
  /** Writes down what has changed; `all` are the intents that there are, the oldest first. @throws {IntentError} */
  write(changed: readonly IntentRecord[], forgotten: readonly string[], all: () => Iterable<IntentRecord>): void;
}

const untouched: IntentProgress = {
  codeScanned: false,
  rejected: false,
  submitted: false,
  reversed: false,
  payer: undefined,
  userId: undefined,
  webhookUrl: undefined,
  marked: false,
};

type Changing = { -readonly [Name in keyof IntentProgress]: IntentProgress[Name] };

/** The intents in memory, at most `capacity` of them: the oldest makes room for the newest. */
export class IntentStore {
  readonly #records = new Map<string, IntentRecord & Changing>();
  readonly #subscribers = new Subscribers();
  readonly #capacity: number;
  readonly #archive: IntentArchive | undefined;
  /** Ids of what is not written yet. */
  readonly #unsaved = new Set<string>();

  constructor(capacity = 10_000, archive?: IntentArchive, kept: Iterable<KeptIntent> = []) {
    this.#capacity = capacity;
    this.#archive = archive;
    for (const { intent, createdAtMs, progress, mail } of kept) {
      this.#put(
        intent,
        createdAtMs,
        progress,
        Mailbox.from(mail, () => this.#unsaved.add(intent.id)),
      );
    }
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
  add(intent: CreatedIntent, createdAtMs: number): IntentRecord {
    const mailbox = new Mailbox(intent.message, () => this.#unsaved.add(intent.id));
    const record = this.#put(intent, createdAtMs, untouched, mailbox);
    this.#unsaved.add(intent.id);
    this.#subscribers.notify();
    return record;
  }

  update({ id }: IntentRecord, changes: Partial<IntentProgress>): void {
    const record = this.#records.get(id);
    if (!record) return;
    Object.assign(record, changes);
    this.#unsaved.add(id);
  }

  /** From now on it is as if the intent had never been. */
  forget(id: string | undefined): void {
    if (id !== undefined && this.#records.delete(id)) this.#unsaved.add(id);
    this.save();
  }

  /**
   * Writes down what has changed since the last time. To be called before anybody is told of a change: then nothing that
   * was answered is lost with the process.
   * @throws {IntentError} `invalid_configuration` where it cannot be written; it is tried again with the next change
   */
  save(): void {
    if (this.#unsaved.size === 0) return;
    const ids = [...this.#unsaved];
    const changed = ids.flatMap((id) => this.#records.get(id) ?? []);
    const forgotten = ids.filter((id) => !this.#records.has(id));
    this.#archive?.write(changed, forgotten, () => this.#records.values());
    this.#unsaved.clear();
  }

  /** The newest first. */
  recent(count: number): IntentRecord[] {
    return [...this.#records.values()].slice(-count).reverse();
  }

  #put(
    { id, request, signedBytes }: CreatedIntent,
    createdAtMs: number,
    progress: IntentProgress,
    mailbox: Mailbox,
  ): IntentRecord {
    const record = { id, request, signedBytes, mailbox, createdAtMs, ...progress };
    this.#records.set(id, record);
    const [oldest] = this.#records.keys();
    if (oldest !== undefined && this.#records.size > this.#capacity) this.#records.delete(oldest);
    return record;
  }
}
