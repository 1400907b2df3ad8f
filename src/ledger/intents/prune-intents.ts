import { IntentError } from '../../errors.js';
import type { Database, Queryable } from '../database/database.js';
import type { ArchivedIntent, PruneOptions, StateChange } from '../ledger.js';
import { type HistoryRow, historyColumns, toStateChange } from './find-intents.js';
import { type IntentRow, intentColumns, toLedgerIntent } from './intent-row.js';

/** How many go in one transaction: few enough that nobody waits for it. */
const batch = 200;

/** What is younger may still be asked for by a page that is open. */
const youngest = `least($1::float8, extract(epoch from now() - interval '1 day')::float8 * 1000)`;

const finished = `select id from express_intents.intents
  where due_at is null and state <> 'dead' and (resource is null or $3::boolean)
    and (kind = 'login' or state in ('creating', 'settled', 'reversed', 'expired'))
    -- A claimed one is being rechecked, and may have been paid.
    and (leased_until is null or leased_until <= now())
    and created_at < to_timestamp(${youngest} / 1000)
    and ($4::text is null or created_at >= $4::timestamptz)
  order by created_at, id limit $2::int for update skip locked`;

/**
 * Deletes intents with which nothing is left to be done, a few at a time, the oldest first.
 * @returns how many
 * @throws {IntentError} `invalid_request`, `ledger_unavailable` @throws what `archive` throws; what was pruned before stays so
 */
export async function pruneIntents(db: Database, options: PruneOptions): Promise<number> {
  const { olderThan, archive, includeResources = false } = options;
  if (!(olderThan instanceof Date) || Number.isNaN(olderThan.getTime())) {
    throw new IntentError('invalid_request', '`olderThan` must be a Date: what was created before it is pruned.');
  }
  let from: string | null = null;
  for (let pruned = 0; ; ) {
    const gone = await db.transaction(async (tx) => {
      const rows = await takeOut(tx, [olderThan.getTime(), batch, includeResources, from]);
      const intents = rows.length > 0 ? await withHistory(tx, rows) : [];
      if (intents.length > 0) await archive?.(intents, { tx });
      return rows;
    });
    pruned += gone.length;
    // What was deleted stays in the indexes for a while, and each batch would go over all that went before it.
    from = gone.at(-1)?.created ?? from;
    if (gone.length < batch) return pruned;
  }
}

/** With the database's own text of the time, since a number loses the microseconds. */
type GoneRow = IntentRow & { readonly created: string };

/** The oldest first. */
async function takeOut(tx: Queryable, values: readonly unknown[]): Promise<readonly GoneRow[]> {
  const { rows } = await tx.query<GoneRow>(
    `with gone as materialized (${finished})
     delete from express_intents.intents i using gone where i.id = gone.id
     returning ${intentColumns}, i.created_at::text as created`,
    values,
  );
  return rows.toSorted((one, other) => one.created_ms - other.created_ms);
}

async function withHistory(tx: Queryable, rows: readonly GoneRow[]): Promise<readonly ArchivedIntent[]> {
  const ids = rows.map(({ id }) => id);
  const changes = await takeOutHistory(tx, ids);
  return rows.map((row) => Object.freeze({ ...toLedgerIntent(row), history: changes.get(row.id) ?? [] }));
}

async function takeOutHistory(tx: Queryable, ids: readonly string[]): Promise<Map<string, StateChange[]>> {
  const { rows } = await tx.query<HistoryRow & { readonly intent_id: string; readonly place: number }>(
    `delete from express_intents.history where intent_id = any($1::text[])
     returning intent_id, number::float8 as place, ${historyColumns}`,
    [ids],
  );
  const changes = new Map<string, StateChange[]>();
  for (const row of rows.toSorted((one, other) => one.place - other.place)) {
    changes.set(row.intent_id, [...(changes.get(row.intent_id) ?? []), toStateChange(row)]);
  }
  return changes;
}
