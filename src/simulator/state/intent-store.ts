import { IntentError } from '../../errors.js';
import type { IntentRequest } from '../../intents/verify-intent.js';
import { ChangeNotifier } from './change-notifier.js';
import { Mailbox, type PersistedMessages } from './mailbox.js';
import type { VerifiedIntent } from './verified-intent.js';

// States of an intent, derived from its flags by `stateOf`:
//   created    no flag is set
//   scanned    a wallet sent `code_scanned`
//   declined   a wallet sent `client_rejected_...`; for display, the intent can still be submitted
//   submitted  a wallet paid or logged in
//   reversed   the payment was reversed after its submission; it can be submitted again
// The flags `scanned` and `declined` stay set. `submitted` and `reversed` take precedence.

export const intentNotFound = (id: string): IntentError =>
  new IntentError(
    'intent_not_found',
    `The simulator has no intent ${id}. Create a new one. Without a state file, a restart deletes all intents.`,
  );

export interface IntentProgress {
  readonly scanned: boolean;
  /** For display only: anyone with the code can sign the message that sets it. */
  readonly declined: boolean;
  readonly submitted: boolean;
  readonly reversed: boolean;
  readonly payer: Uint8Array | undefined;
  readonly userId: Uint8Array | undefined;
  readonly webhookUrl: URL | undefined;
}

/** An intent in the store. Change it with `IntentStore.update` only, which marks it for the next `save`. */
export interface StoredIntent extends IntentProgress {
  readonly id: string;
  readonly request: IntentRequest;
  /** The bytes that its signature covers. A request with the same bytes is a retry. */
  readonly signedBytes: Uint8Array;
  readonly mailbox: Mailbox;
  readonly createdAtMs: number;
}

export type StoredIntentState = 'created' | 'scanned' | 'declined' | 'submitted' | 'reversed';

export function stateOf({ submitted, reversed, declined, scanned }: IntentProgress): StoredIntentState {
  if (submitted) return 'submitted';
  if (reversed) return 'reversed';
  if (declined) return 'declined';
  return scanned ? 'scanned' : 'created';
}

export interface PersistedIntent {
  readonly intent: VerifiedIntent;
  readonly createdAtMs: number;
  readonly progress: IntentProgress;
  readonly mail: PersistedMessages;
}

export interface IntentPersistence {
  /** Writes the changes; `all` yields all intents, the oldest first. @throws {IntentError} */
  write(changed: readonly StoredIntent[], forgotten: readonly string[], all: () => Iterable<StoredIntent>): void;
}

const initialProgress: IntentProgress = {
  scanned: false,
  declined: false,
  submitted: false,
  reversed: false,
  payer: undefined,
  userId: undefined,
  webhookUrl: undefined,
};

type MutableProgress = { -readonly [Name in keyof IntentProgress]: IntentProgress[Name] };

/** The intents in memory, at most `capacity`: the newest replaces the oldest. */
export class IntentStore {
  readonly #intents = new Map<string, StoredIntent & MutableProgress>();
  readonly #changes = new ChangeNotifier();
  readonly #capacity: number;
  readonly #persistence: IntentPersistence | undefined;
  readonly #unsaved = new Set<string>();

  constructor(capacity = 10_000, persistence?: IntentPersistence, persisted: Iterable<PersistedIntent> = []) {
    this.#capacity = capacity;
    this.#persistence = persistence;
    for (const { intent, createdAtMs, progress, mail } of persisted) {
      const mailbox = Mailbox.from(mail, () => this.#unsaved.add(intent.id));
      this.#put(intent, createdAtMs, progress, mailbox);
    }
  }

  require(id: string): StoredIntent {
    const intent = this.#intents.get(id);
    if (!intent) throw intentNotFound(id);
    return intent;
  }

  get(id: string): StoredIntent | undefined {
    return this.#intents.get(id);
  }

  async whenCreated(id: string, signal: AbortSignal): Promise<StoredIntent | undefined> {
    while (!this.#intents.has(id) && !signal.aborted) await this.#changes.next(signal);
    return this.#intents.get(id);
  }

  /** The intent with this id, if any (protocol section 6). @throws {IntentError} `malformed_message` if its content differs */
  find({ id, signedBytes }: VerifiedIntent): StoredIntent | undefined {
    const intent = this.#intents.get(id);
    if (intent && Buffer.compare(intent.signedBytes, signedBytes) !== 0) {
      throw new IntentError('malformed_message', `The intent ${id} already exists with different content.`);
    }
    return intent;
  }

  add(intent: VerifiedIntent, createdAtMs: number): StoredIntent {
    const mailbox = new Mailbox(intent.message, () => this.#unsaved.add(intent.id));
    const stored = this.#put(intent, createdAtMs, initialProgress, mailbox);
    this.#unsaved.add(intent.id);
    this.#changes.notify();
    return stored;
  }

  update({ id }: StoredIntent, changes: Partial<IntentProgress>): void {
    const intent = this.#intents.get(id);
    if (!intent) return;
    Object.assign(intent, changes);
    this.#unsaved.add(id);
  }

  forget(id: string | undefined): void {
    if (id !== undefined && this.#intents.delete(id)) this.#unsaved.add(id);
    this.save();
  }

  /**
   * Writes unsaved changes. Called before each response, so a crash loses no change whose response was sent.
   * @throws {IntentError} `invalid_configuration` if the state file cannot be written; the next save retries
   */
  save(): void {
    if (this.#unsaved.size === 0) return;
    const ids = [...this.#unsaved];
    const changed = ids.flatMap((id) => this.#intents.get(id) ?? []);
    const forgotten = ids.filter((id) => !this.#intents.has(id));
    this.#persistence?.write(changed, forgotten, () => this.#intents.values());
    this.#unsaved.clear();
  }

  /** The newest first. */
  recent(count: number): StoredIntent[] {
    return [...this.#intents.values()].slice(-count).reverse();
  }

  #put(
    { id, request, signedBytes }: VerifiedIntent,
    createdAtMs: number,
    progress: IntentProgress,
    mailbox: Mailbox,
  ): StoredIntent {
    const stored = { id, request, signedBytes, mailbox, createdAtMs, ...progress };
    this.#intents.set(id, stored);
    const [oldest] = this.#intents.keys();
    if (oldest !== undefined && this.#intents.size > this.#capacity) this.#intents.delete(oldest);
    return stored;
  }
}
