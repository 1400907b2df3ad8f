import type { Queryable } from '../database/database.js';
import { type IntentRow, intentColumns } from '../intents/intent-row.js';
import type { LedgerBacklog } from '../ledger.js';
import type { Payment } from '../payment.js';
import { type Lane, lanes } from './hook-lanes.js';
import type { SettlementTiming } from './settlement-timing.js';

/** A payment that one process has claimed, for as long as its lease lasts. */
export interface Work {
  readonly payment: Payment;
  readonly state: 'open' | 'submitted' | 'settled' | 'reversed' | 'expired';
  /** Whether the payer is to be logged in as well. */
  readonly login: boolean;
  /** The fence: every write of this work names it, and none counts once somebody else has claimed the payment. */
  readonly leaseToken: string;
  /** How often the hook that is due has failed. */
  readonly attempts: number;
  /** How often a hook of this payment has timed out since one last succeeded. */
  readonly timeouts: number;
  readonly lane: Lane;
  /** How the hook ran that was interrupted by the end of a process; undefined where none was. */
  readonly hookRun: 'together' | 'alone' | undefined;
  /** From the creation of the intent to the word of the sequencer that it was submitted. */
  readonly submittedAfterMs: number;
  /** Since it was created, submitted or settled, whichever came last. */
  readonly ageMs: number;
  /** Whether it was watched as long as it should be. */
  readonly isOver: boolean;
  /** Whether the sequencer has once said that it was taken back. */
  readonly isDoubted: boolean;
}

/** What of the columns a worker needs besides those that everybody is shown. */
const workColumns = `${intentColumns}, i.lease_token::text as lease_token, i.watch_until <= now() as is_over,
  i.doubted_at is not null as is_doubted, i.timeouts::text as timeouts, i.lane, i.hook_run,
  extract(epoch from now() - coalesce(i.settled_at, i.submitted_at, i.created_at))::float8 * 1000 as age_ms`;

type WorkRow = IntentRow & {
  readonly state: Work['state'];
  readonly lease_token: string;
  readonly is_over: boolean;
  readonly is_doubted: boolean;
  readonly timeouts: string;
  readonly lane: Lane;
  readonly hook_run: 'together' | 'alone' | null;
  readonly age_ms: number;
};

/** What every write sets that ends a claim. */
export const release = 'leased_until = null, hook_run = null';

/** What every write sets when a hook has succeeded. */
export const calm = `attempts = 0, timeouts = 0, lane = 'first', last_error = null`;

/**
 * Due in one lane. Pairs are compared, so that a database without statistics reads the index
 * `intents_due` in its order as well.
 */
export const isDueIn = (lane: Lane): string => `due_at is not null
  and (lane, due_at) >= ('${lane}', '-infinity') and (lane, due_at) <= ('${lane}', now())`;

/** Claimed by no process. A lease that ends later than any can was given while the clock of the database was ahead. */
const isFree = `(leased_until is null or leased_until <= now()
  or leased_until > now() + $1::float8 * interval '2 milliseconds')`;

/** Due payments of one lane, the longest waiting first. Rows locked by others are skipped. */
const dueIn = (lane: Lane, place: number): string => `(select id from express_intents.intents
  where ${isDueIn(lane)} and ${isFree}
  order by lane, due_at limit ($2::int[])[${place}] for update skip locked)`;

const dueIntents = lanes
  .map((lane, index) => `select id from ${dueIn(lane, index + 1)} ${lane}_due`)
  .join(' union all ');

const namedIntents = `select id from express_intents.intents
  where id = any($2::text[]) and kind = 'payment' and state in ('open', 'reversed', 'expired') and ${isFree}
  for update skip locked`;

/** How many payments of each lane to claim at most. */
export type LaneLimits = Readonly<Record<Lane, number>>;

/** Claims what is due. */
export function claimDue(db: Queryable, limits: LaneLimits, timing: SettlementTiming): Promise<Work[]> {
  const counts = lanes.map((lane) => limits[lane]);
  return claim(db, dueIntents, counts, timing);
}

/** Claims those of these payments that can be paid and are nobody else's, due or not. */
export function claimNamed(db: Queryable, ids: readonly string[], timing: SettlementTiming): Promise<Work[]> {
  return claim(db, namedIntents, ids, timing);
}

/** Those of these that can be paid, and that somebody else may be looking at. */
export async function stillOpen(db: Queryable, ids: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from express_intents.intents where id = any($1::text[]) and state in ('open', 'reversed', 'expired')`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

async function claim(db: Queryable, which: string, argument: unknown, { leaseMs }: SettlementTiming): Promise<Work[]> {
  const { rows } = await db.query<WorkRow>(
    `with claimed as materialized (${which})
     update express_intents.intents i
     set leased_until = now() + $1::float8 * interval '1 millisecond', lease_token = i.lease_token + 1
     from claimed where i.id = claimed.id
     returning ${workColumns}`,
    [leaseMs, argument],
  );
  return rows.map(toWork);
}

function toWork(row: WorkRow): Work {
  const submittedMs = row.submitted_ms ?? 0;
  return {
    payment: Object.freeze({
      id: row.id,
      amount: row.amount ?? '',
      currency: row.currency ?? '',
      destination: row.destination ?? '',
      metadata: JSON.parse(row.metadata),
      resource: row.resource ?? undefined,
      userId: row.user_id ?? undefined,
      createdAt: new Date(row.created_ms),
      submittedAt: new Date(submittedMs),
    }),
    state: row.state,
    login: row.login,
    leaseToken: row.lease_token,
    attempts: Number(row.attempts),
    timeouts: Number(row.timeouts),
    lane: row.lane,
    hookRun: row.hook_run ?? undefined,
    submittedAfterMs: submittedMs - row.created_ms,
    ageMs: row.age_ms,
    isOver: row.is_over,
    isDoubted: row.is_doubted,
  };
}

/** How many due times are brought back in one statement. */
const broughtBackAtOnce = 200;

/**
 * Brings back due times that were set while the clock of the database was ahead: an interval starts now that started in the
 * future. What can still be paid is due now. Transactions of other processes may be some seconds younger than this one.
 * @returns whether there may be more of them
 */
export async function bringBackDueTimes(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query(
    `with ahead as materialized (
       select id from express_intents.intents
       where due_at is not null and scheduled_at > now() + interval '5 seconds'
       order by scheduled_at desc limit ${broughtBackAtOnce} for update skip locked)
     update express_intents.intents i set scheduled_at = now(),
       due_at = case when i.state in ('open', 'expired', 'reversed') then now() else now() + (i.due_at - i.scheduled_at) end
     from ahead where i.id = ahead.id`,
  );
  return rowCount === broughtBackAtOnce;
}

/** Whether a work has been another's since: then nothing of it may be written. */
export class LeaseLost extends Error {
  constructor(id: string) {
    super(`The work on ${id} is not this process's own any more.`);
    this.name = 'LeaseLost';
  }
}

/**
 * Writes what became of a work, if it is still this process's own.
 * @param changes what stands behind `set`; its parameters begin with `$4`
 * @returns the row as work again, with what was changed
 * @throws {LeaseLost}
 */
export async function writeWork(
  db: Queryable,
  { payment: { id }, leaseToken, state }: Work,
  changes: string,
  values: readonly unknown[] = [],
): Promise<Work> {
  const { rows } = await db.query<WorkRow>(
    `update express_intents.intents i set ${changes}
     where id = $1 and lease_token = $2::bigint and state = $3
     returning ${workColumns}`,
    [id, leaseToken, state, ...values],
  );
  if (!rows[0]) throw new LeaseLost(id);
  return toWork(rows[0]);
}

/** Ends claims early, in one statement, so that another process need not wait for the end of the lease. */
export async function giveBack(db: Queryable, works: readonly Work[]): Promise<void> {
  await db.query(
    `update express_intents.intents i set ${release}
     from unnest($1::text[], $2::bigint[]) given (id, lease_token)
     where i.id = given.id and i.lease_token = given.lease_token`,
    [works.map(({ payment }) => payment.id), works.map(({ leaseToken }) => leaseToken)],
  );
}

/** Ends all claims of a database that one process alone can open: whoever had them has died. */
export async function endClaims(db: Queryable): Promise<void> {
  await db.query(
    `update express_intents.intents set leased_until = null, lease_token = lease_token + 1
     where due_at is not null and leased_until is not null`,
  );
}

/** A backlog is counted up to this, so that counting is fast. */
const countedUpTo = 1_000;

/** Due payments of each lane, so that the index `intents_due` is read in its order. */
const dueBacklog = lanes
  .map(
    (lane) => `(select due_at from express_intents.intents where ${isDueIn(lane)}
    and (leased_until is null or leased_until <= now()) order by lane, due_at limit $1::int)`,
  )
  .join(' union all ');

/** One statement. Counting follows the order of an index and stops at the limit. */
export async function inspectBacklog(db: Queryable): Promise<LedgerBacklog> {
  const { rows } = await db.query<{ due: number; oldest_ms: number | null; dead: number }>(
    `with due as materialized (${dueBacklog}) select
       (select least(count(*), $1::int)::int from due) as due,
       (select extract(epoch from now() - min(due_at))::float8 * 1000 from due) as oldest_ms,
       (select count(*)::int from (select from express_intents.intents where state = 'dead' order by created_at limit $1::int) d) as dead`,
    [countedUpTo],
  );
  const [row] = rows;
  return { due: row?.due ?? 0, oldestDueMs: Math.round(row?.oldest_ms ?? 0), deadLetters: row?.dead ?? 0 };
}
