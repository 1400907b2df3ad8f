import { Batcher } from '../../async/batcher.js';
import { batchOptions } from '../database/batch-options.js';
import type { Database } from '../database/database.js';
import type { NewIntent } from '../ledger.js';
import {
  confirmIntent,
  confirmIntents,
  type Reservation,
  recordIntents,
  reserveIntents,
  type WatchTimes,
} from './record-intent.js';

/**
 * Records new intents. On Postgres, the intents of concurrent requests share statements. A caller waits until its own
 * intent is committed.
 *
 * PGlite executes one statement at a time, and `EmbeddedDatabase` detects a deadlock by the async context of the caller. So
 * there each intent has statements of its own.
 */
export class IntentRecorder {
  readonly #db: Pick<Database, 'query' | 'isShared'>;
  readonly #times: WatchTimes;
  readonly #records: Batcher<NewIntent, undefined>;
  readonly #reservations: Batcher<Reservation, boolean>;
  readonly #confirmations: Batcher<string, boolean>;

  constructor(db: Pick<Database, 'query' | 'isShared'>, times: WatchTimes) {
    this.#db = db;
    this.#times = times;
    this.#records = new Batcher({ ...batchOptions, run: (intents) => this.#record(intents) });
    this.#reservations = new Batcher({ ...batchOptions, run: (reservations) => reserveIntents(db, reservations) });
    this.#confirmations = new Batcher({ ...batchOptions, run: (ids) => confirmIntents(db, ids, times) });
  }

  async record(intent: NewIntent): Promise<void> {
    await (this.#db.isShared ? this.#records.add(intent) : this.#record([intent]));
  }

  /** False if the idempotency key is already used. */
  async reserve(reservation: Reservation): Promise<boolean> {
    if (this.#db.isShared) return this.#reservations.add(reservation);
    const [isRecorded = false] = await reserveIntents(this.#db, [reservation]);
    return isRecorded;
  }

  /** @throws {IntentError} `internal_error` if the intent is missing */
  async confirm(id: string): Promise<void> {
    const isConfirmed = this.#db.isShared && (await this.#confirmations.add(id));
    if (!isConfirmed) await confirmIntent(this.#db, id, this.#times);
  }

  async #record(intents: readonly NewIntent[]): Promise<undefined[]> {
    await recordIntents(this.#db, intents, this.#times);
    return intents.map(() => undefined);
  }
}
