import type { Database } from '../database/database.js';
import { prepared } from '../database/prepared.js';

/** Ids within this time share one statement, because commits with `pg_notify` wait for each other. */
const batchMs = 20;
/** Postgres limits a payload to 8000 bytes. */
const maxIds = 150;

/** Notifies all processes of submitted intents, for the pages that they serve. A notification may be lost. */
export class SubmissionNotifier {
  readonly #db: Database;
  readonly #listening: { close(): void } | undefined;
  #ids: string[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param onSubmitted called with the id of an intent whose submission a process has detected */
  constructor(db: Database, onSubmitted: (id: string) => void) {
    this.#db = db;
    this.#listening = db.listen?.('express_intents', (payload) => {
      for (const id of payload.split(',')) onSubmitted(id);
    });
  }

  notify(id: string): void {
    // A database without `listen` has only this process.
    if (!this.#listening) return;
    this.#ids.push(id);
    if (this.#ids.length >= maxIds) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), batchMs).unref();
  }

  close(): void {
    this.#send();
    this.#listening?.close();
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const ids = this.#ids;
    this.#ids = [];
    if (ids.length === 0) return;
    this.#db.query(prepared(`select pg_notify('express_intents', $1)`), [ids.join(',')]).catch(() => undefined);
  }
}
