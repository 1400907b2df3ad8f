import { Batcher, type BatchFailure } from '../../async/batcher.js';
import { IntentError } from '../../errors.js';
import type { Database } from '../database/database.js';
import { DatabaseOutage, ledgerUnavailable, sqlStateOf } from '../database/database-fault.js';
import type { NewIntent } from '../ledger.js';
import {
  confirmIntent,
  confirmIntents,
  type Reservation,
  recordIntents,
  reserveIntents,
  type WatchTimes,
} from './record-intent.js';

const batchOptions = {
  maxItems: 64,
  maxRunning: 2,
  classifyFailure,
  timeoutMs: 5_000,
  timeoutError: () =>
    ledgerUnavailable(
      'The database is too slow: an intent waited more than 5 s to be written. Check its load and locks',
    ),
};

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

/**
 * With an SQLSTATE the database has rejected the statement, so it wrote nothing. After any other error it may be committed.
 * Class 42, such as a missing table or privilege, affects every item.
 */
function classifyFailure(error: unknown): BatchFailure {
  if (error instanceof DatabaseOutage) return 'outage';
  const state = error instanceof IntentError ? undefined : sqlStateOf(error);
  return state === undefined || state.startsWith('42') ? 'batch' : 'item';
}
