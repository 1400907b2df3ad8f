import { setTimeout as wait } from 'node:timers/promises';
import { IntentError } from '../errors.js';
import type { DatabaseTransaction } from '../ledger/database/database.js';
import type { IntentRecords, SiteDatabase } from '../ledger/ledger.js';
import { requireKnown } from '../reject-unknown.js';
import type { Simulator } from '../simulator/index.js';

/** The site whose time advances. */
export interface AdvanceTimeSite {
  /** Advances the clock of this simulator. */
  readonly simulator: Pick<Simulator, 'clock'>;
  /** The router of the site, or the routers of all sites with this simulator. A router without a ledger is ignored. */
  readonly router?: LedgerRouter | readonly LedgerRouter[] | undefined;
}

interface LedgerRouter {
  /** Its intents become older. */
  readonly database: SiteDatabase;
  /** Polls the intents that become due. */
  readonly intents: Pick<IntentRecords, 'recheck'>;
}

/**
 * Advances the time of a site by `ms` milliseconds, without waiting:
 *
 * - The clock of the simulator advances, and with it that of every site that takes `now` from it. Logins without a
 *   ledger, sessions in the router's own cookie, webhook calls (`exp`) and rate limits expire by this clock.
 * - All intents in the ledger become older by `ms`: logins expire, work becomes due, and `onPaid` may get `late: true` for a
 *   payment submitted afterwards. Resolves when the due work is done, or after 60 seconds for each router.
 *
 * If several sites share a simulator, pass all routers in one call. If several routers share a database, pass only one.
 *
 * No timer fires: timeouts and an open circuit take their real time. Tables of the site do not change.
 * @throws {IntentError} `invalid_request` for a negative time or an unknown field, `ledger_unavailable`
 */
export async function advanceTime(ms: number, site: AdvanceTimeSite): Promise<void> {
  requireKnown('advanceTime', site, ['simulator', 'router']);
  const { simulator, router } = site;
  simulator.clock.advance(ms);
  for (const one of router ? [router].flat() : []) {
    try {
      await advanceLedger(one, ms);
    } catch (error) {
      const hasNoLedger = error instanceof IntentError && error.code === 'invalid_configuration';
      if (!hasNoLedger) throw error;
    }
  }
}

/** Ends a wait for work that never ends. A busy machine may need seconds. */
const timeoutMs = 60_000;
const pollMs = 20;

async function advanceLedger({ database, intents }: LedgerRouter, ms: number): Promise<void> {
  await database.transaction((tx) => makeOlder(tx, ms));
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const { rows } = await database.query<{ id: string }>(
      'select intent_id as id from express_intents.payments where due_at <= now() limit 1',
    );
    const [due] = rows;
    if (!due || performance.now() > endMs) return;
    // A recheck of one intent wakes the settlement before its next round.
    void intents.recheck(due.id);
    await wait(pollMs);
  }
}

/** All times of an intent except the end of a lease, so that a claimed payment stays claimed. */
const timeColumns = {
  intents: ['created_at'],
  payments: [
    'created_at',
    'submitted_at',
    'settled_at',
    'reversed_at',
    'due_at',
    'due_set_at',
    'watch_until',
    'reversal_suspected_at',
  ],
  logins: ['created_at', 'completed_at'],
  history: ['at'],
};

async function makeOlder(tx: DatabaseTransaction, ms: number): Promise<void> {
  for (const [table, columns] of Object.entries(timeColumns)) {
    const older = columns.map((column) => `${column} = ${column} - $1::float8 * interval '1 millisecond'`).join(', ');
    // A trigger rejects a change of `created_at`.
    await tx.query(`alter table express_intents.${table} disable trigger user`);
    await tx.query(`update express_intents.${table} set ${older}`, [ms]);
    await tx.query(`alter table express_intents.${table} enable trigger user`);
  }
}
