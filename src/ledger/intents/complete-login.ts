import type { DatabaseTransaction, Queryable } from '../database/database.js';

/** A login that is to be completed. */
export interface LoginToComplete {
  readonly id: string;
  readonly browser: Uint8Array;
  readonly ttlMs: number;
  readonly userId: string;
}

/** Begun by this browser, less than `$3` milliseconds ago, and not completed. */
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

/** True for one caller alone: another that comes at the same time waits for the row, and finds it completed. */
export async function completeLogin(tx: DatabaseTransaction, login: LoginToComplete): Promise<boolean> {
  const { id, browser, ttlMs, userId } = login;
  const { rowCount } = await tx.query(
    `update express_intents.intents set login_completed_at = now(), user_id = $4 where ${completable}`,
    [id, browser, ttlMs, userId],
  );
  return rowCount === 1;
}

export async function reopenLogin(db: Queryable, id: string): Promise<void> {
  await db.query('update express_intents.intents set login_completed_at = null where id = $1', [id]);
}
