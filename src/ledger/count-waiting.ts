import type { Queryable } from './database.js';

/** What waits in a ledger. */
export interface Waiting {
  /** Payments whose time to be looked at has come. */
  readonly due: number;
  /** Payments that wait for a person. */
  readonly dead: number;
}

export async function countWaiting(db: Queryable): Promise<Waiting> {
  const { rows } = await db.query<Waiting>(
    `select (select count(*) from express_intents.intents where due_at <= now())::float8 as due,
       (select count(*) from express_intents.intents where state = 'dead')::float8 as dead`,
  );
  return rows[0] ?? { due: 0, dead: 0 };
}
