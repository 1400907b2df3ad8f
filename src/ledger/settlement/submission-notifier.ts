import type { Database } from '../database/database.js';

/** Ids within this time share one statement, because a commit with `pg_notify` blocks every other such commit in Postgres. */
const gatherMs = 20;
/** Postgres accepts payloads under 8000 bytes. */
const maxIds = 150;

/**
 * Notifies all processes of a site of submitted intents, so that pages served by other processes learn of them at once. A
 * notification is a hint: it may be lost, and its receiver asks the sequencer.
 */
export class SubmissionNotifier {
  readonly #db: Database;
  readonly #listening: { close(): void } | undefined;
  #ids: string[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param onSubmitted called with the id of an intent that any process found submitted */
  constructor(db: Database, onSubmitted: (id: string) => void) {
    this.#db = db;
    this.#listening = db.listen?.('express_intents', (payload) => {
      for (const id of payload.split(',')) onSubmitted(id);
    });
  }

  notify(id: string): void {
    // Without `listen`, no other process has the database.
    if (!this.#listening) return;
    this.#ids.push(id);
    if (this.#ids.length >= maxIds) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), gatherMs).unref();
  }

  /** Sends what is waiting. */
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
    this.#db.query(`select pg_notify('express_intents', $1)`, [ids.join(',')]).catch(() => undefined);
  }
}
