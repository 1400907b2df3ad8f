import type { LedgerBacklog } from '../../telemetry/router-event.js';
import type { Queryable } from '../database/database.js';
import { hidden, prepared } from '../database/prepared.js';
import { isGiven } from '../intents/intent-row.js';
import {
  type ClaimedPayment,
  type ClaimedPaymentRow,
  claimedPaymentColumns,
  toClaimedPayment,
} from './claimed-payment.js';
import { type Lane, lanes } from './hook-lanes.js';
import { hasAllHooksSql, type RequiredHook } from './required-hooks.js';
import type { SettlementTiming } from './settlement-timing.js';

/** Due in one lane. Pairs are compared, so even a database without statistics reads the index `payments_due` in order. */
const isDueIn = (lane: Lane): string => `due_at is not null
  and (lane, due_at) >= ('${lane}', '-infinity') and (lane, due_at) <= ('${lane}', now())`;

/** Not claimed. A lease longer than possible is ignored: the clock of the database was ahead when it was written. */
const isFree = `(leased_until is null or leased_until <= now()
  or leased_until > now() + $2::float8 * interval '2 milliseconds')`;

/** Due payments of one lane, longest wait first. Skips rows that other processes have locked. */
const dueIn = (lane: Lane, place: number): string => `(select intent_id from express_intents.payments
  where ${isDueIn(lane)} and ${isFree}
  order by lane, due_at limit ${hidden(`($1::int[])[${place}]`)} for update skip locked)`;

const dueIntents = lanes
  .map((lane, index) => `select intent_id from ${dueIn(lane, index + 1)} ${lane}_due`)
  .join(' union all ');

/** In `creating` it may be paid too: after the restore of a backup, or a failover, that lost its confirmation. */
const isUnpaid = `state in ('creating', 'created', 'reversed', 'expired')`;

const unpaidIntents = `select intent_id from express_intents.payments
  where intent_id = ${isGiven} and ${isUnpaid} and ${isFree}
  for update skip locked`;

export type LaneLimits = Readonly<Record<Lane, number>>;

/** The process that claims payments. */
export interface Claimant {
  readonly timing: SettlementTiming;
  /** The hooks that it has. It claims nothing if it lacks a required one. */
  readonly hooks: readonly RequiredHook[];
}

export function claimDue(db: Queryable, limits: LaneLimits, claimant: Claimant): Promise<ClaimedPayment[]> {
  const counts = lanes.map((lane) => limits[lane]);
  return claim(db, dueIntents, counts, claimant);
}

/** Claims those of the given payments that are unpaid and unclaimed, due or not. */
export function claimUnpaid(db: Queryable, ids: readonly string[], claimant: Claimant): Promise<ClaimedPayment[]> {
  return claim(db, unpaidIntents, ids, claimant);
}

async function claim(
  db: Queryable,
  selection: string,
  argument: unknown,
  { timing, hooks }: Claimant,
): Promise<ClaimedPayment[]> {
  const { rows } = await db.query<ClaimedPaymentRow>(
    // The database cannot estimate the number of claimed payments. An array makes it use the primary key.
    prepared(`with claimed as materialized (
       select intent_id from (${selection}) selected where ${hasAllHooksSql('$3')}),
     p as (
       update express_intents.payments
       set leased_until = now() + $2::float8 * interval '1 millisecond', lease_token = lease_token + 1
       where intent_id = any(array(select intent_id from claimed))
       returning *)
     select ${claimedPaymentColumns} from p join express_intents.intents i on i.id = p.intent_id`),
    [argument, timing.leaseMs, hooks],
  );
  return rows.map(toClaimedPayment);
}

/** Those of the given payments that are unpaid. Another process may have claimed them. */
export async function findUnpaid(db: Queryable, ids: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    prepared(`select intent_id as id from express_intents.payments
     where intent_id = ${isGiven} and ${isUnpaid}`),
    [ids],
  );
  return rows.map(({ id }) => id);
}

/**
 * Ends claims before their leases end, in one statement. Another process can then claim the payments immediately.
 * @param options.keepsCalls whether a called hook stays recorded in `running_hook`: the next claim finds it interrupted
 * @param options.skipsLocked whether it skips rows that other transactions have locked, instead of waiting for them
 * @returns the ids of the payments whose rows it skipped
 */
export async function releaseClaims(
  db: Queryable,
  claims: readonly ClaimedPayment[],
  { keepsCalls = false, skipsLocked = false } = {},
): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>(
    prepared(`with given as materialized (
       select * from unnest(${['$1::text[]', '$2::bigint[]', '$3::boolean[]'].map(hidden).join(', ')}) given (id, lease_token, keeps_call)),
     held as materialized (
       select p.intent_id, given.keeps_call from express_intents.payments p
       join given on p.intent_id = given.id and p.lease_token = given.lease_token
       for update of p ${skipsLocked ? 'skip locked' : ''}),
     released as (
       update express_intents.payments p
       set leased_until = null, running_hook = case when held.keeps_call then p.running_hook end
       from held where p.intent_id = held.intent_id)
     select p.intent_id as id from express_intents.payments p
     join given on p.intent_id = given.id and p.lease_token = given.lease_token
     where p.intent_id not in (select intent_id from held)`),
    [
      claims.map(({ payment }) => payment.id),
      claims.map(({ leaseToken }) => leaseToken),
      claims.map(({ progress }) => keepsCalls && progress.isHookCalled),
    ],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Ends all claims in a database that only one process can open. The processes that had them have ended. */
export async function releaseAllClaims(db: Queryable): Promise<void> {
  await db.query(
    `update express_intents.payments set leased_until = null, lease_token = lease_token + 1
     where due_at is not null and leased_until is not null`,
  );
}

const correctionBatch = 200;

/**
 * Corrects what was written while the clock of the database was ahead. A payment that can still be paid, or whose polls ended then,
 * becomes due now. For any other payment, the interval that started in the future starts now. The five seconds allow for
 * transactions of other processes that began later than this one.
 * @returns whether there may be more
 */
export async function correctDueTimes(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query(
    `with ahead as materialized (
       select intent_id from express_intents.payments
       where due_set_at > now() + interval '5 seconds'
       order by due_set_at desc limit ${correctionBatch} for update skip locked)
     update express_intents.payments p set due_set_at = now(), due_at = case
         when state in ('created', 'expired', 'reversed') or (state = 'settled' and due_at is null) then now()
         else now() + (due_at - due_set_at) end
     from ahead where p.intent_id = ahead.intent_id`,
  );
  return rowCount === correctionBatch;
}

/** The backlog is counted up to this, which bounds the cost. */
const maxCount = 1_000;

/** The due payments, lane by lane: the database reads the index `payments_due` in its order. */
const dueBacklog = lanes
  .map(
    (lane) => `(select due_at from express_intents.payments where ${isDueIn(lane)}
    and (leased_until is null or leased_until <= now()) order by lane, due_at limit $1::int)`,
  )
  .join(' union all ');

export async function inspectBacklog(db: Queryable): Promise<LedgerBacklog> {
  const { rows } = await db.query<{ due: number; oldest_ms: number | null; dead: number }>(
    prepared(`with due as materialized (${dueBacklog}) select
       (select least(count(*), $1::int)::int from due) as due,
       (select extract(epoch from now() - min(due_at))::float8 * 1000 from due) as oldest_ms,
       (select count(*)::int from (select from express_intents.payments where listed = 'dead' limit $1::int) d) as dead`),
    [maxCount],
  );
  const [row] = rows;
  return { due: row?.due ?? 0, oldestDueMs: Math.round(row?.oldest_ms ?? 0), deadLetters: row?.dead ?? 0 };
}
