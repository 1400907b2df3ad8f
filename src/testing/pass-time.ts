import type { Sequencer } from '../emulator/index.js';
import { IntentError } from '../errors.js';
import type { DatabaseTransaction } from '../ledger/database.js';
import type { SiteDatabase } from '../ledger/ledger.js';

/** What time passes for. */
export interface PassTimeSite {
  readonly sequencer: Pick<Sequencer, 'clock'>;
  /** The router of the site; without a ledger it is as if it were not given. */
  readonly router?: { readonly database: SiteDatabase } | undefined;
}

/**
 * Lets time pass for a site without waiting for it, in milliseconds. Two things happen.
 *
 * The sequencer's clock is put forward, and with it that of every site that has `now` from it: a login without a ledger, a
 * sealed session, a webhook's expiry and limits of requests end by it.
 *
 * All intents in the ledger, which goes by the time of its database, become so much older: logins begun expire, work that
 * waits is due, what is paid now may be late. It is taken up at the next look, a second later at most.
 *
 * No timer goes off by it, so that time-outs of calls and of hooks, and a service that is left alone after failures, take
 * their time. Nothing else in the database changes.
 * @throws {IntentError} `invalid_request` for less than 0, `ledger_unavailable`
 */
export async function passTime(ms: number, { sequencer, router }: PassTimeSite): Promise<void> {
  sequencer.clock.advance(ms);
  await router?.database.transaction((tx) => makeOlder(tx, ms)).catch(unlessNoLedger);
}

/** All times of an intent but the end of a lease, so that what is being worked on stays with who works on it. */
const times = [
  'created_at',
  'submitted_at',
  'settled_at',
  'reversed_at',
  'login_completed_at',
  'due_at',
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
