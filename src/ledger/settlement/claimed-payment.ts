import type { Database } from '../database/database.js';
import { prepared } from '../database/prepared.js';
import { exactOf, type TermsRow, termsColumns } from '../intents/intent-row.js';
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

/** The columns of {@link ClaimedPaymentRow}. Each costs CPU in the process and in Postgres. */
export const claimedPaymentColumns = `p.intent_id as id, p.state, ${termsColumns},
  case when i.login then (select user_id from express_intents.logins l where l.intent_id = p.intent_id) end as user_id,
  p.lease_token::text as lease_token, p.attempts::text as attempts, p.timeouts::text as timeouts, p.lane, p.running_hook,
  p.watch_until <= now() as watch_expired, p.reversal_suspected_at is not null as reversal_suspected,
  extract(epoch from p.created_at)::float8 * 1000 as created_ms,
  extract(epoch from p.submitted_at)::float8 * 1000 as submitted_ms,
  extract(epoch from now() - coalesce(case when p.state <> 'submitted' then p.settled_at end, p.submitted_at, p.created_at))
    ::float8 * 1000 as age_ms`;

export interface ClaimedPaymentRow extends TermsRow {
  readonly id: string;
  readonly state: ClaimedPayment['state'];
  readonly user_id: string | null;
  readonly lease_token: string;
  readonly attempts: string;
  readonly timeouts: string;
  readonly lane: Lane;
  readonly running_hook: RunningHook | null;
  readonly watch_expired: boolean;
  readonly reversal_suspected: boolean;
  readonly created_ms: number;
  readonly submitted_ms: number | null;
  readonly age_ms: number;
}

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

/** Another process has, or may have, claimed the payment. This process must not write to it any more. */
export class LeaseLost extends Error {
  constructor(id: string) {
    super(`The claim on ${id} no longer belongs to this process.`);
    this.name = 'LeaseLost';
  }
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
      prepared(`update express_intents.payments
       set leased_until = case when leased_until is not null then now() + $3::float8 * interval '1 millisecond' end
       where intent_id = $1 and lease_token = $2::bigint`),
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
