import type { Queryable } from '../database/database.js';
import { isDueIn } from '../settlement/claimed-payment.js';
import { lanes } from '../settlement/hook-lanes.js';

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

/** Due payments of each lane, so that the index of what is due is read in its order. */
const due = lanes
  .map(
    (lane) => `(select due_at from express_intents.intents where ${isDueIn(lane)}
    and (leased_until is null or leased_until <= now()) order by lane, due_at limit $1::int)`,
  )
  .join(' union all ');

/** Reads everything in one statement. Counting follows the order of an index and stops at the limit. */
export async function inspectLedger(db: Queryable): Promise<LedgerBacklog> {
  const { rows } = await db.query<{ due: number; oldest_ms: number | null; dead: number }>(
    `with due as materialized (${due}) select
       (select least(count(*), $1::int)::int from due) as due,
       (select extract(epoch from now() - min(due_at))::float8 * 1000 from due) as oldest_ms,
       (select count(*)::int from (select from express_intents.intents where state = 'dead' order by created_at limit $1::int) d) as dead`,
    [countedUpTo],
  );
  const [row] = rows;
  return { due: row?.due ?? 0, oldestDueMs: Math.round(row?.oldest_ms ?? 0), deadLetters: row?.dead ?? 0 };
}
