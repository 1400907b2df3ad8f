import { IntentError } from '../../errors.js';
import { requireKnown } from '../../reject-unknown.js';
import type { Database, Queryable } from '../database/database.js';
import type { ArchivedIntent, PruneOptions, StateChange } from '../ledger.js';
import {
  createdText,
  type HistoryRow,
  historyColumns,
  type IntentRow,
  intentColumns,
  toLedgerIntent,
  toStateChange,
} from './intent-row.js';

/** How many intents one transaction deletes: few, because other statements may wait for it. */
const batchSize = 200;

/** At least a day ago: an open page may still request the status of a younger intent. */
const createdBefore = `least($1::float8, extract(epoch from now() - interval '1 day')::float8 * 1000)`;

const finished = `select id from express_intents.intents
  where due_at is null and state <> 'dead' and (resource is null or $3::boolean)
    and (kind = 'login' or state in ('creating', 'settled', 'reversed', 'expired'))
    -- A claimed payment is being polled and may have been paid.
    and (leased_until is null or leased_until <= now())
    and created_at < to_timestamp(${createdBefore} / 1000)
    and ($4::text is null or created_at >= $4::timestamptz)
  order by created_at, id limit $2::int for update skip locked`;

/**
 * Deletes intents that need no more work, in batches, oldest first.
 * @returns how many were deleted
 * @throws {IntentError} `invalid_request`, `ledger_unavailable` @throws what `archive` throws; earlier batches stay deleted
 */
export async function pruneIntents(db: Database, options: PruneOptions): Promise<number> {
  requireKnown('router.intents.prune', options, ['olderThan', 'archive', 'includeResources']);
  const { olderThan, archive, includeResources = false } = options;
  if (!(olderThan instanceof Date) || Number.isNaN(olderThan.getTime())) {
    throw new IntentError(
      'invalid_request',
      '`olderThan` must be a valid Date. Finished intents created before it are deleted.',
    );
  }
  let from: string | null = null;
  for (let pruned = 0; ; ) {
    const deleted = await db.transaction(async (tx) => {
      const rows = await deleteFinished(tx, [olderThan.getTime(), batchSize, includeResources, from]);
      const intents = rows.length > 0 ? await withHistory(tx, rows) : [];
      if (intents.length > 0) await archive?.(intents, { tx });
      return rows;
    });
    pruned += deleted.length;
    // Deleted rows stay in the indexes for a while. The next batch starts after them.
    from = deleted.at(-1)?.created ?? from;
    if (deleted.length < batchSize) return pruned;
  }
}

type DeletedRow = IntentRow & { readonly created: string };

async function deleteFinished(tx: Queryable, values: readonly unknown[]): Promise<readonly DeletedRow[]> {
  const { rows } = await tx.query<DeletedRow>(
    `with gone as materialized (${finished})
     delete from express_intents.intents i using gone where i.id = gone.id
     returning ${intentColumns}, ${createdText} as created`,
    values,
  );
  return rows.toSorted((one, other) => one.created_ms - other.created_ms);
}

async function withHistory(tx: Queryable, rows: readonly DeletedRow[]): Promise<readonly ArchivedIntent[]> {
  const ids = rows.map(({ id }) => id);
  const changes = await deleteHistory(tx, ids);
  return rows.map((row) => Object.freeze({ ...toLedgerIntent(row), history: changes.get(row.id) ?? [] }));
}

async function deleteHistory(tx: Queryable, ids: readonly string[]): Promise<Map<string, StateChange[]>> {
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
