import { setTimeout as wait } from 'node:timers/promises';
import type { Sequencer } from '../emulator/index.js';
import { IntentError } from '../errors.js';
import { requireKnown } from '../known-names.js';
import type { DatabaseTransaction } from '../ledger/database/database.js';
import type { IntentRecords, SiteDatabase } from '../ledger/ledger.js';

/** The parts of a site whose time passes. */
export interface AdvanceTimeSite {
  /** Its clock is advanced. */
  readonly sequencer: Pick<Sequencer, 'clock'>;
  /** The router of the site, or of all sites with this sequencer. A router without a ledger changes nothing. */
  readonly router?: LedgerRouter | readonly LedgerRouter[] | undefined;
}

/** The members of a router that reach its ledger. */
interface LedgerRouter {
  /** The times in it are put back. */
  readonly database: SiteDatabase;
  /** What is due then is polled. */
  readonly intents: Pick<IntentRecords, 'recheck'>;
}

/**
 * Lets time pass for a site without waiting, in milliseconds:
 *
 * - The sequencer's clock is advanced, and with it the clock of every site that takes `now` from it: logins without a ledger,
 *   sealed sessions, webhooks and rate limits expire by it.
 * - All intents in the ledger, which uses the time of its database, become that much older: logins expire, waiting work becomes
 *   due, a payment made now may be late. Resolves once the due work is done, or after 5 seconds.
 *
 * Each call moves what it names once more: name several sites with one sequencer in one call, and only one of several routers
 * with one database.
 *
 * No timer fires: timeouts of calls and hooks, and an open circuit, take their real time. Nothing else in the database changes.
 * @throws {IntentError} `invalid_request` for less than 0, `ledger_unavailable`
 */
export async function advanceTime(ms: number, site: AdvanceTimeSite): Promise<void> {
  requireKnown('advanceTime', site, ['sequencer', 'router']);
  const { sequencer, router } = site;
  sequencer.clock.advance(ms);
  for (const one of router ? [router].flat() : []) {
    try {
      await passTimeInLedger(one, ms);
    } catch (error) {
      const hasNoLedger = error instanceof IntentError && error.code === 'invalid_configuration';
      if (!hasNoLedger) throw error;
    }
  }
}

const timeoutMs = 5_000;
const pollMs = 20;

async function passTimeInLedger({ database, intents }: LedgerRouter, ms: number): Promise<void> {
  await database.transaction((tx) => makeOlder(tx, ms));
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const { rows } = await database.query<{ id: string }>(
      'select id from express_intents.intents where due_at <= now() limit 1',
    );
    const [due] = rows;
    if (!due || performance.now() > endMs) return;
    // A recheck of one intent wakes the settlement before its next round.
    void intents.recheck(due.id);
    await wait(pollMs);
  }
}

/** All times of an intent except the end of a lease, so that a claimed payment stays claimed. */
const timeColumns = [
  'created_at',
  'submitted_at',
  'settled_at',
  'reversed_at',
  'login_completed_at',
  'due_at',
  'scheduled_at',
  'watch_until',
  'reversal_suspected_at',
];

async function makeOlder(tx: DatabaseTransaction, ms: number): Promise<void> {
  const older = (column: string): string => `${column} = ${column} - $1::float8 * interval '1 millisecond'`;
  // The trigger keeps the terms and times of an intent as they were created.
  await tx.query('alter table express_intents.intents disable trigger enforce_intent_rules');
  await tx.query(`update express_intents.intents set ${timeColumns.map(older).join(', ')}`, [ms]);
  await tx.query(`update express_intents.history set ${older('at')}`, [ms]);
  await tx.query('alter table express_intents.intents enable trigger enforce_intent_rules');
}
