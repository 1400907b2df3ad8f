import type { Queryable } from './database.js';

/** What is due in the ledger, and what was given up: for all processes that share it. */
export interface LedgerBacklog {
  /** Payments that should have been looked at by now and that nobody has claimed; {@link countedUpTo} stands for more. */
  readonly due: number;
  /** How long the oldest of them has waited, in milliseconds; 0 where there is none. */
  readonly oldestDueMs: number;
  /** Payments whose hook has failed too often; {@link countedUpTo} stands for more. */
  readonly deadLetters: number;
}

/** However much there is, it is counted fast. */
const countedUpTo = 1_000;

const isDue = 'due_at <= now() and (leased_until is null or leased_until <= now())';

/** Asks for all of it at once. What is counted is counted in the order of an index, so that no table is gone over for it. */
export async function inspectLedger(db: Queryable): Promise<LedgerBacklog> {
  const { rows } = await db.query<{ due: number; oldest_ms: number | null; dead: number }>(
    `select
       (select count(*)::int from (select from express_intents.intents where ${isDue} order by due_at limit $1::int) d) as due,
       (select extract(epoch from now() - due_at)::float8 * 1000 from express_intents.intents where ${isDue}
          order by due_at limit 1) as oldest_ms,
       (select count(*)::int from (select from express_intents.intents where state = 'dead' order by created_at limit $1::int) d) as dead`,
    [countedUpTo],
  );
  const [row] = rows;
  return { due: row?.due ?? 0, oldestDueMs: Math.round(row?.oldest_ms ?? 0), deadLetters: row?.dead ?? 0 };
}
