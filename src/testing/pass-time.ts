import { setTimeout as wait } from 'node:timers/promises';
import type { Sequencer } from '../emulator/index.js';
import { IntentError } from '../errors.js';
import type { DatabaseTransaction } from '../ledger/database/database.js';
import type { IntentRecords, SiteDatabase } from '../ledger/ledger.js';

/** What time passes for. */
export interface PassTimeSite {
  /** Its clock is put on. */
  readonly sequencer: Pick<Sequencer, 'clock'>;
  /** The router of the site, or those of all sites with this sequencer; one without a ledger is as if it were not given. */
  readonly router?: LedgerRouter | readonly LedgerRouter[] | undefined;
}

/** What of a router its ledger is reached by. */
interface LedgerRouter {
  /** Its times are put back. */
  readonly database: SiteDatabase;
  /** What is due then is looked at. */
  readonly intents: Pick<IntentRecords, 'look'>;
}

/**
 * Lets time pass for a site without waiting for it, in milliseconds. Two things happen.
 *
 * The sequencer's clock is put forward, and with it that of every site that has `now` from it: a login without a ledger, a
 * sealed session, a webhook's expiry and limits of requests end by it.
 *
 * All intents in the ledger, which goes by the time of its database, become so much older: logins begun expire, work that
 * waits is due, what is paid now may be late. It resolves once that work was done, or after 5 seconds.
 *
 * Each call moves what it names, once more: several sites with one sequencer are named in one call, and of routers with one
 * database only one is.
 *
 * No timer goes off by it, so that time-outs of calls and of hooks, and a service that is left alone after failures, take
 * their time. Nothing else in the database changes.
 * @throws {IntentError} `invalid_request` for less than 0, `ledger_unavailable`
 */
export async function passTime(ms: number, { sequencer, router }: PassTimeSite): Promise<void> {
  sequencer.clock.advance(ms);
  for (const one of router ? [router].flat() : []) await passTimeInLedger(one, ms).catch(unlessNoLedger);
}

const patienceMs = 5_000;
const pauseMs = 20;

async function passTimeInLedger({ database, intents }: LedgerRouter, ms: number): Promise<void> {
  await database.transaction((tx) => makeOlder(tx, ms));
  const endMs = performance.now() + patienceMs;
  for (;;) {
    const { rows } = await database.query<{ id: string }>(
      'select id from express_intents.intents where due_at <= now() limit 1',
    );
    const [due] = rows;
    if (!due || performance.now() > endMs) return;
    // The look at one wakes whoever does the work, so that nobody waits for the next round.
    void intents.look(due.id);
    await wait(pauseMs);
  }
}

/** All times of an intent but the end of a lease, so that what is being worked on stays with who works on it. */
const times = [
  'created_at',
  'submitted_at',
  'settled_at',
  'reversed_at',
  'login_completed_at',
  'due_at',
  'scheduled_at',
  'watch_until',
  'doubted_at',
];

async function makeOlder(tx: DatabaseTransaction, ms: number): Promise<void> {
  const older = (column: string): string => `${column} = ${column} - $1::float8 * interval '1 millisecond'`;
  // Its rule is that an intent stays as it was created, and nobody but a test may want it otherwise.
  await tx.query('alter table express_intents.intents disable trigger keep_the_rules');
  await tx.query(`update express_intents.intents set ${times.map(older).join(', ')}`, [ms]);
  await tx.query(`update express_intents.history set ${older('at')}`, [ms]);
  await tx.query('alter table express_intents.intents enable trigger keep_the_rules');
}

function unlessNoLedger(error: unknown): void {
  if (!(error instanceof IntentError) || error.code !== 'invalid_configuration') throw error;
}
