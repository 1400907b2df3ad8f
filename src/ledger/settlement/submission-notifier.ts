import type { Database } from '../database/database.js';

/** What is announced within this time goes in one statement: at its commit Postgres lets nobody else commit one. */
const gatherMs = 20;
/** Postgres takes fewer than 8000 bytes. */
const maxIds = 150;

/**
 * Tells all processes of a site which intents have just been submitted, so that pages that are open elsewhere learn of it
 * at once. It is a hint and may be lost; who hears it asks the sequencer.
 */
export class Announcements {
  readonly #db: Database;
  readonly #listening: { close(): void } | undefined;
  #ids: string[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** @param hear called with the id of an intent that was submitted */
  constructor(db: Database, hear: (id: string) => void) {
    this.#db = db;
    this.#listening = db.listen?.('express_intents', (payload) => {
      for (const id of payload.split(',')) hear(id);
    });
  }

  announce(id: string): void {
    // Where one process alone has the database, nobody else listens.
    if (!this.#listening) return;
    this.#ids.push(id);
    if (this.#ids.length >= maxIds) this.#send();
    else this.#timer ??= setTimeout(() => this.#send(), gatherMs).unref();
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
    this.#db.query(`select pg_notify('express_intents', $1)`, [ids.join(',')]).catch(() => undefined);
  }
}
