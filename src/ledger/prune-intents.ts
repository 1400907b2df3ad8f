import { IntentError } from '../errors.js';
import type { Database, Queryable } from './database.js';
import { type HistoryRow, historyColumns, toStateChange } from './find-intents.js';
import { type IntentRow, intentColumns, toLedgerIntent } from './intent-row.js';
import type { ArchivedIntent, PruneOptions, StateChange } from './ledger.js';

/** How many go in one transaction: few enough that nobody waits for it. */
const batch = 200;

/** What is younger may still be asked for by a page that is open. */
const youngest = `least($1::float8, extract(epoch from now() - interval '1 day')::float8 * 1000)`;

const finished = `select id from express_intents.intents
  where due_at is null and state <> 'dead' and (resource is null or $3::boolean)
    and (kind = 'login' or state in ('creating', 'settled', 'reversed', 'expired'))
    and created_at < to_timestamp(${youngest} / 1000)
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
  for (let pruned = 0; ; ) {
    const count = await db.transaction(async (tx) => {
      const intents = await takeOut(tx, [olderThan.getTime(), batch, includeResources]);
      if (intents.length > 0) await archive?.(intents, { tx });
      return intents.length;
    });
    pruned += count;
    if (count < batch) return pruned;
  }
}

async function takeOut(tx: Queryable, values: readonly unknown[]): Promise<readonly ArchivedIntent[]> {
  const { rows } = await tx.query<IntentRow>(
    `with gone as materialized (${finished})
     delete from express_intents.intents i using gone where i.id = gone.id returning ${intentColumns}`,
    values,
  );
  if (rows.length === 0) return [];
  const changes = await takeOutHistory(
    tx,
    rows.map(({ id }) => id),
  );
  return rows
    .toSorted((one, other) => one.created_ms - other.created_ms)
    .map((row) => Object.freeze({ ...toLedgerIntent(row), history: changes.get(row.id) ?? [] }));
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
