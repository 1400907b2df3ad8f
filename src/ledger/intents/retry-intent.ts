import type { Queryable } from '../database/database.js';

/** Resumes a dead letter with the hook that failed; polls an expired or reversed intent again. */
export async function retryIntent(db: Queryable, id: string, watchMs: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update express_intents.intents set
       state = case when state <> 'dead' then 'created' when dead_letter_hook = 'onReversed' then 'settled' else 'submitted' end,
       dead_letter_hook = null, attempts = 0, due_at = now(), leased_until = null,
       watch_until = greatest(watch_until, now() + $2::float8 * interval '1 millisecond')
     where id = $1 and state in ('dead', 'expired', 'reversed')`,
    [id, watchMs],
  );
  return rowCount === 1;
}
