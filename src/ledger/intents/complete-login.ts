import type { Database, DatabaseTransaction, Queryable } from '../database/database.js';
import { prepared } from '../database/prepared.js';
import type { Completion, LoginToComplete } from '../ledger.js';
import type { TransitionName } from '../transitions.js';
import { assignmentsOf } from '../write-transition.js';

const ofBrowser = `l.intent_id = $1 and exists (select from express_intents.intents where id = l.intent_id and browser = $2)`;

/** Created by this browser less than `$3` milliseconds ago, and not completed. */
const completable = `${ofBrowser} and l.state = 'created' and l.created_at > now() - $3::float8 * interval '1 millisecond'`;

/** An arbitrary number: the locks of logins must differ from those of a site that also hashes ids. */
const loginLocks = 7_233_014_859;

export async function canCompleteLogin(
  db: Queryable,
  id: string,
  browser: Uint8Array,
  ttlMs: number,
): Promise<boolean> {
  const { rowCount } = await db.query(prepared(`select 1 from express_intents.logins l where ${completable}`), [
    id,
    browser,
    ttlMs,
  ]);
  return rowCount === 1;
}

/** The statement of a transition of a login. A payment that logs in has only the history of its payment. */
const changeLogin = (name: TransitionName, from: string, to: string, condition: string, given: string): string =>
  `with changed as (
     update express_intents.logins l set ${assignmentsOf(name)} from (select ${given}) given where ${condition}
     returning l.intent_id),
   changed_state as (
     insert into express_intents.history (intent_id, from_state, to_state, attempts)
     select intent_id, '${from}', '${to}', 0 from changed
     where not exists (select from express_intents.payments p where p.intent_id = changed.intent_id))
   select intent_id from changed`;

const complete = prepared(
  changeLogin('completeLogin', 'created', 'completed', completable, '$4 as user_id, $5 as key'),
);
const reopen = changeLogin(
  'reopenLogin',
  'completed',
  'created',
  `l.intent_id = $1 and l.state = 'completed' and l.completion_key = given.key`,
  '$2 as key',
);

/** The login was completed or deleted while `work` ran, without the lock. The writes of `work` are rolled back. */
class LoginLost extends Error {}

/**
 * Runs `work` and completes a login in one transaction. True for one caller: the others wait for an advisory lock, and get
 * false without a call of `work`. The row is written last, as in `callHook`: a row lock during `work` would delay requests that
 * read the completion.
 */
export async function completeLoginOnce(
  db: Database,
  { id, browser, ttlMs, userId, key }: LoginToComplete,
  work: (tx: DatabaseTransaction) => Promise<void>,
): Promise<boolean> {
  const completeInside = async (tx: DatabaseTransaction): Promise<boolean> => {
    await tx.query(prepared(`select pg_advisory_xact_lock(hashtextextended($1, ${loginLocks}))`), [id]);
    // A statement of its own: the transaction of a hook is `read committed`, so it sees what the previous holder of the lock committed.
    if (!(await canCompleteLogin(tx, id, browser, ttlMs))) return false;
    await work(tx);
    const { rowCount } = await tx.query(complete, [id, browser, ttlMs, userId, key]);
    if (rowCount !== 1) throw new LoginLost();
    return true;
  };
  try {
    return await db.transaction(completeInside, { isHook: true, isCommitted: (other) => hasCompleted(other, id, key) });
  } catch (error) {
    if (error instanceof LoginLost) return false;
    throw error;
  }
}

/**
 * Whether the request with this key has completed the login. A repetition of the request, in another process, may have found the
 * completion already. Waits, by the lock of the row, for a transaction that completes it.
 */
async function hasCompleted(db: Queryable, id: string, key: string): Promise<boolean | undefined> {
  const { rows } = await db.query<{ done: boolean }>(
    `select state = 'completed' and completion_key in ($2, $3) as done
     from express_intents.logins where intent_id = $1 for update`,
    [id, key, repeated(key)],
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
  const completedLately = `${ofBrowser} and l.completed_at > now() - $3::float8 * interval '1 millisecond'`;
  // The first request may still fail to start its session. From now on it does not reopen the login.
  const own = await db.query<{ user_id: string }>(
    prepared(`update express_intents.logins l set completion_key = $5 where ${completedLately} and completion_key in ($4, $5)
     returning user_id`),
    [id, browser, ttlMs, key, repeated(key)],
  );
  if (own.rows[0]) return { userId: own.rows[0].user_id, isSameRequest: true };
  const other = await db.query<{ user_id: string }>(
    prepared(`select user_id from express_intents.logins l where ${completedLately}`),
    [id, browser, ttlMs],
  );
  return other.rows[0] && { userId: other.rows[0].user_id, isSameRequest: false };
}

export async function reopenLogin(db: Queryable, id: string, key: string): Promise<void> {
  await db.query(reopen, [id, key]);
}

/** Records who pays, for a payment that logs in. */
export async function recordUserId(db: Queryable, id: string, userId: string): Promise<void> {
  await db.query('update express_intents.logins set user_id = $2 where intent_id = $1 and user_id is null', [
    id,
    userId,
  ]);
}
