import type { Database, DatabaseTransaction, Queryable } from '../database/database.js';
import { prepared } from '../database/prepared.js';
import type { Completion, LoginToComplete } from '../ledger.js';

/** Created by this browser less than `$3` milliseconds ago, and not completed. */
const completable = `id = $1 and browser = $2 and state <> 'creating' and (kind = 'login' or login)
  and login_completed_at is null and created_at > now() - $3::float8 * interval '1 millisecond'`;

/** An arbitrary number: the locks of logins must differ from those of a site that also hashes ids. */
const loginLocks = 7_233_014_859;

export async function canCompleteLogin(
  db: Queryable,
  id: string,
  browser: Uint8Array,
  ttlMs: number,
): Promise<boolean> {
  const { rowCount } = await db.query(prepared(`select 1 from express_intents.intents where ${completable}`), [
    id,
    browser,
    ttlMs,
  ]);
  return rowCount === 1;
}

/** The login was completed or deleted while `work` ran, without the lock. The writes of `work` are rolled back. */
class LoginLost extends Error {}

/**
 * Runs `work` and completes a login in one transaction. True for one caller: the others wait for an advisory lock, and get
 * false without a call of `work`. The row is written last, as in `callHook`: a row lock during `work` would delay the settlement
 * of the same payment, and cause deadlocks with `onPaid`.
 */
export async function completeLoginOnce(
  db: Database,
  { id, browser, ttlMs, userId, key }: LoginToComplete,
  work: (tx: DatabaseTransaction) => Promise<void>,
): Promise<boolean> {
  const complete = async (tx: DatabaseTransaction): Promise<boolean> => {
    await tx.query(prepared(`select pg_advisory_xact_lock(hashtextextended($1, ${loginLocks}))`), [id]);
    // A statement of its own: the transaction of a hook is `read committed`, so it sees what the previous holder of the lock committed.
    if (!(await canCompleteLogin(tx, id, browser, ttlMs))) return false;
    await work(tx);
    const { rowCount } = await tx.query(
      prepared(`update express_intents.intents set login_completed_at = now(), user_id = $4, completion_key = $5,
         state = case when kind = 'login' then 'completed' else state end
       where ${completable}`),
      [id, browser, ttlMs, userId, key],
    );
    if (rowCount !== 1) throw new LoginLost();
    return true;
  };
  try {
    return await db.transaction(complete, { isHook: true, isCommitted: (other) => hasCompleted(other, id, key) });
  } catch (error) {
    if (error instanceof LoginLost) return false;
    throw error;
  }
}

/** Whether the request with this key has completed the login. Waits, by the lock of the row, for a transaction that completes it. */
async function hasCompleted(db: Queryable, id: string, key: string): Promise<boolean | undefined> {
  const { rows } = await db.query<{ done: boolean }>(
    `select login_completed_at is not null and completion_key is not distinct from $2 as done
     from express_intents.intents where id = $1 for update`,
    [id, key],
  );
  return rows[0]?.done;
}

/** The key of a completed login for which a repeated request has started a session. */
const repeated = (key: string): string => `repeated ${key}`;

export async function findCompletion(
  db: Queryable,
  { id, browser, key }: Pick<LoginToComplete, 'id' | 'browser' | 'key'>,
  ttlMs: number,
): Promise<Completion | undefined> {
  const completedLately = `id = $1 and browser = $2 and login_completed_at > now() - $3::float8 * interval '1 millisecond'`;
  // The first request may still fail to start its session. From now on it does not reopen the login.
  const own = await db.query<{ user_id: string }>(
    prepared(`update express_intents.intents set completion_key = $5 where ${completedLately} and completion_key in ($4, $5)
     returning user_id`),
    [id, browser, ttlMs, key, repeated(key)],
  );
  if (own.rows[0]) return { userId: own.rows[0].user_id, isSameRequest: true };
  const other = await db.query<{ user_id: string }>(
    prepared(`select user_id from express_intents.intents where ${completedLately}`),
    [id, browser, ttlMs],
  );
  return other.rows[0] && { userId: other.rows[0].user_id, isSameRequest: false };
}

export async function reopenLogin(db: Queryable, id: string, key: string): Promise<void> {
  await db.query(
    `update express_intents.intents set login_completed_at = null,
       state = case when state = 'completed' then 'created' else state end
     where id = $1 and completion_key = $2`,
    [id, key],
  );
}
