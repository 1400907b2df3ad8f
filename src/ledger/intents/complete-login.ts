import type { Database, DatabaseTransaction, Queryable } from '../database/database.js';
import type { LoginToComplete } from '../ledger.js';

/** Created by this browser less than `$3` milliseconds ago, and not completed. */
const completable = `id = $1 and browser = $2 and state <> 'creating' and (kind = 'login' or login)
  and login_completed_at is null and created_at > now() - $3::float8 * interval '1 millisecond'`;

export async function canCompleteLogin(
  db: Queryable,
  id: string,
  browser: Uint8Array,
  ttlMs: number,
): Promise<boolean> {
  const { rowCount } = await db.query(`select 1 from express_intents.intents where ${completable}`, [
    id,
    browser,
    ttlMs,
  ]);
  return rowCount === 1;
}

/** Completes a login and runs `work` in its transaction. True for one caller: the others wait for the row lock and get false. */
export function completeLoginOnce(
  db: Database,
  { id, browser, ttlMs, userId }: LoginToComplete,
  work: (tx: DatabaseTransaction) => Promise<void>,
): Promise<boolean> {
  const complete = async (tx: DatabaseTransaction): Promise<boolean> => {
    const { rowCount } = await tx.query(
      `update express_intents.intents set login_completed_at = now(), user_id = $4,
         state = case when kind = 'login' then 'completed' else state end
       where ${completable}`,
      [id, browser, ttlMs, userId],
    );
    if (rowCount !== 1) return false;
    await work(tx);
    return true;
  };
  return db.transaction(complete, { isHook: true });
}

/** The user of a login that this browser has completed less than `ttlMs` ago. */
export async function findCompletedUser(
  db: Queryable,
  id: string,
  browser: Uint8Array,
  ttlMs: number,
): Promise<string | undefined> {
  const { rows } = await db.query<{ user_id: string }>(
    `select user_id from express_intents.intents
     where id = $1 and browser = $2 and login_completed_at > now() - $3::float8 * interval '1 millisecond'`,
    [id, browser, ttlMs],
  );
  return rows[0]?.user_id;
}

export async function reopenLogin(db: Queryable, id: string): Promise<void> {
  await db.query(
    `update express_intents.intents set login_completed_at = null,
       state = case when state = 'completed' then 'created' else state end
     where id = $1`,
    [id],
  );
}
