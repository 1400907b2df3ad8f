import type { Database, Queryable } from '../database/database.js';
import { DatabaseOutage } from '../database/database-fault.js';
import { prepared } from '../database/prepared.js';
import { exactOf, type IntentRow, intentColumns } from '../intents/intent-row.js';
import type { LedgerSettings } from '../ledger-settings.js';
import type { DeadLetter, Payment } from '../payment.js';
import type { Lane } from './hook-lanes.js';

// A claim gives a payment to one process, until its lease ends.
//
//     free     -- a process claims it, with a new lease_token ------> claimed
//     claimed  -- heartbeat, three times in each lease -------------> claimed: the lease is extended
//     claimed  -- the last write of the work, or a release ---------> free
//     claimed  -- the lease ends without a heartbeat ---------------> free
//
// Every write of the work requires its `lease_token`, except the confirmation of an intent. So a process that lost its claim writes
// nothing else.

/** A hook whose start is recorded, because the process may end while it runs. */
export type RunningHook = DeadLetter['hook'];

/** What the work on a claim has done. The copies of a `ClaimedPayment` share one. */
interface ClaimProgress {
  /** Whether a hook was called in this claim, or was interrupted in an earlier one. */
  isHookCalled: boolean;
  /** Whether the claim has ended, although its work failed. */
  hasEnded: boolean;
}

/** A payment that this process has claimed, as of the claim. */
export interface ClaimedPayment {
  readonly payment: Payment;
  readonly state: 'creating' | 'created' | 'submitted' | 'settled' | 'reversed' | 'expired';
  readonly login: boolean;
  /** The fencing token of all writes. */
  readonly leaseToken: string;
  readonly attempts: number;
  /** How many times a hook of this payment has timed out since the last success. */
  readonly timeouts: number;
  readonly lane: Lane;
  /** The hook that was started last in this claim. If it is set when the payment is claimed, the hook was interrupted. */
  readonly runningHook: RunningHook | undefined;
  /** The time from the creation of the intent to the status that reported it as submitted. */
  readonly submittedAfterMs: number;
  /** The time since it settled; before that, or if it was submitted again, since it was submitted; else since it was created. */
  readonly ageMs: number;
  readonly watchExpired: boolean;
  /** Whether the last poll reported the settled payment as not submitted. */
  readonly reversalSuspected: boolean;
  readonly progress: ClaimProgress;
}

export const claimedPaymentColumns = `${intentColumns}, i.lease_token::text as lease_token,
  i.watch_until <= now() as watch_expired, i.reversal_suspected_at is not null as reversal_suspected,
  i.timeouts::text as timeouts, i.lane, i.running_hook,
  extract(epoch from now() - coalesce(case when i.state <> 'submitted' then i.settled_at end, i.submitted_at, i.created_at))
    ::float8 * 1000 as age_ms`;

export type ClaimedPaymentRow = IntentRow & {
  readonly state: ClaimedPayment['state'];
  readonly lease_token: string;
  readonly watch_expired: boolean;
  readonly reversal_suspected: boolean;
  readonly timeouts: string;
  readonly lane: Lane;
  readonly running_hook: RunningHook | null;
  readonly age_ms: number;
};

export function toClaimedPayment(row: ClaimedPaymentRow): ClaimedPayment {
  const submittedMs = row.submitted_ms ?? 0;
  return {
    payment: Object.freeze({
      id: row.id,
      amount: row.amount ?? '',
      currency: row.currency ?? '',
      exact: exactOf(row),
      destination: row.destination ?? '',
      description: row.description ?? undefined,
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
    runningHook: row.running_hook ?? undefined,
    submittedAfterMs: submittedMs - row.created_ms,
    ageMs: row.age_ms,
    watchExpired: row.watch_expired,
    reversalSuspected: row.reversal_suspected,
    progress: { isHookCalled: row.running_hook !== null, hasEnded: false },
  };
}

export const endClaimSql = 'leased_until = null, running_hook = null';

export const clearFailuresSql = `attempts = 0, timeouts = 0, lane = 'first', last_error = null`;

/** Another process has, or may have, claimed the payment. This process must not write to it any more. */
export class LeaseLost extends Error {
  constructor(id: string) {
    super(`The claim on ${id} no longer belongs to this process.`);
    this.name = 'LeaseLost';
  }
}

/**
 * Whether the work on a claim has changed the state of its payment. Waits for a transaction that changes it. `at_ms`: when it was
 * submitted. Undefined if another process has claimed the payment since.
 */
async function readChange(
  db: Queryable,
  { payment: { id }, leaseToken, state }: ClaimedPayment,
): Promise<{ readonly changed: boolean; readonly at_ms: number } | undefined> {
  const { rows } = await db.query<{ readonly changed: boolean; readonly at_ms: number }>(
    `select state <> $3 as changed, extract(epoch from coalesce(submitted_at, now()))::float8 * 1000 as at_ms
     from express_intents.intents where id = $1 and lease_token = $2::bigint for update`,
    [id, leaseToken, state],
  );
  return rows[0];
}

export const hasChanged = async (db: Queryable, claimed: ClaimedPayment): Promise<boolean | undefined> =>
  (await readChange(db, claimed))?.changed;

/**
 * Writes to a claimed payment if the claim is still valid. If the response is lost, reads whether the state was written.
 * @param changes the text after `set`; its parameters start at `$4`
 * @returns `now()` of the write, in milliseconds. Returning more columns would cost more than the write itself
 * @throws {LeaseLost}
 */
export async function updateClaimed(
  db: Queryable,
  claimed: ClaimedPayment,
  changes: string,
  values: readonly unknown[] = [],
): Promise<number> {
  const { payment, leaseToken, state } = claimed;
  try {
    const { rows } = await db.query<{ readonly now_ms: number }>(
      prepared(`update express_intents.intents i set ${changes}
       where id = $1 and lease_token = $2::bigint and state = $3
       returning extract(epoch from now())::float8 * 1000 as now_ms`),
      [payment.id, leaseToken, state, ...values],
    );
    if (!rows[0]) throw new LeaseLost(payment.id);
    return rows[0].now_ms;
  } catch (error) {
    const change = error instanceof DatabaseOutage ? await readChange(db, claimed).catch(() => undefined) : undefined;
    if (!change?.changed) throw error;
    return change.at_ms;
  }
}

interface Submission extends Pick<LedgerSettings, 'settleDelayMs' | 'watchMs'> {
  readonly runningHook?: RunningHook | undefined;
}

/**
 * Writes that a claimed payment is submitted, at `now()`. `verifyPayment` then has `watchMs` to return true.
 * @returns the payment after the write
 * @throws {LeaseLost}
 */
export async function writeSubmitted(
  db: Queryable,
  claimed: ClaimedPayment,
  { settleDelayMs, watchMs, runningHook }: Submission,
): Promise<ClaimedPayment> {
  const submittedMs = await updateClaimed(
    db,
    claimed,
    `state = 'submitted', submitted_at = now(), attempts = 0, last_error = null, running_hook = $5,
     due_at = now() + $4::float8 * interval '1 millisecond',
     watch_until = greatest(i.watch_until, now() + ($4::float8 + $6::float8) * interval '1 millisecond'),
     leased_until = case when $4::float8 = 0 then i.leased_until end`,
    [settleDelayMs, runningHook ?? null, watchMs],
  );
  const { createdAt } = claimed.payment;
  const payment = Object.freeze({ ...claimed.payment, submittedAt: new Date(submittedMs) });
  const submittedAfterMs = submittedMs - createdAt.getTime();
  const renewed = { attempts: 0, ageMs: 0, watchExpired: false };
  return { ...claimed, ...renewed, payment, state: 'submitted', runningHook, submittedAfterMs };
}

/** The lease of a claim. Heartbeats extend it until `stop`. */
export interface Lease {
  /** The id of the payment. */
  readonly id: string;
  /** Aborted with {@link LeaseLost} when another process may have the claim, or with the reason of `abort`. */
  readonly signal: AbortSignal;
  abort(reason: Error): void;
  /** Ends the heartbeats. The last write of the work ends the claim. */
  stop(): void;
}

export function holdLease(db: Database, { payment: { id }, leaseToken }: ClaimedPayment, leaseMs: number): Lease {
  const controller = new AbortController();
  let validUntilMs = performance.now() + leaseMs;
  const beat = async (): Promise<void> => {
    const sentAtMs = performance.now();
    const { rowCount } = await db.query(
      // After the last write of the work the claim has ended, but `onDeadLetter` may still run.
      prepared(`update express_intents.intents
       set leased_until = case when leased_until is not null then now() + $3::float8 * interval '1 millisecond' end
       where id = $1 and lease_token = $2::bigint`),
      [id, leaseToken, leaseMs],
    );
    if (rowCount === 0) throw new LeaseLost(id);
    validUntilMs = sentAtMs + leaseMs;
  };
  const timer = setInterval(() => {
    beat().catch((error) => {
      // While the database is unreachable, the lease is valid until its end. If only this process can open the
      // database, it stays valid: the database may be busy with the very hook for which the lease is held.
      const hasEnded = db.isShared && performance.now() > validUntilMs;
      if (error instanceof LeaseLost || hasEnded) controller.abort(new LeaseLost(id));
    });
  }, leaseMs / 3).unref();
  return {
    id,
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    stop: () => clearInterval(timer),
  };
}
