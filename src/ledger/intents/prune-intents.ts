import { IntentError } from '../../errors.js';
import { requireKnown } from '../../reject-unknown.js';
import type { Database, DatabaseTransaction, Queryable } from '../database/database.js';
import type { ArchivedIntent, PruneOptions, StateChange } from '../ledger.js';
import {
  exactText,
  type HistoryRow,
  historyColumns,
  type IntentRow,
  intentColumns,
  isGiven,
  tablesFrom,
  toLedgerIntent,
  toStateChange,
} from './intent-row.js';

/** How many intents one transaction examines: few, because other statements may wait for those that it deletes. */
const batchSize = 200;

/** Old intents, oldest first. At least a day old: an open page may still request the status of a younger intent. */
const oldIntents = `select id, ${exactText('i.created_at')} as created from express_intents.intents i
  where created_at < to_timestamp(least($1::float8, extract(epoch from now() - interval '1 day')::float8 * 1000) / 1000)
    and ($2::timestamptz is null or (created_at, id) > ($2::timestamptz, $3::text))
  order by created_at, id limit $4::int`;

/** Those of the intents `$1` that need no more work, locked. A claimed payment is being polled and may have been paid. */
const finished = `with payments as materialized (
    select intent_id from express_intents.payments
    where intent_id = ${isGiven} and due_at is null and state <> 'dead' and (resource is null or $2::boolean)
      and (leased_until is null or leased_until <= now())
    for update skip locked),
  logins as materialized (
    select intent_id from express_intents.logins l
    where intent_id = ${isGiven}
      and not exists (select from express_intents.payments p where p.intent_id = l.intent_id)
    for update skip locked)
  select intent_id as id from payments union all select intent_id from logins`;

const deletion = `with payments as (delete from express_intents.payments where intent_id = ${isGiven}),
  logins as (delete from express_intents.logins where intent_id = ${isGiven}),
  failures as (delete from express_intents.failures where intent_id = ${isGiven}),
  history as (delete from express_intents.history where intent_id = ${isGiven})
  delete from express_intents.intents where id = ${isGiven}`;

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
  let last: { readonly id: string; readonly created: string } | undefined;
  for (let pruned = 0; ; ) {
    const page = await db.query<{ id: string; created: string }>(oldIntents, [
      olderThan.getTime(),
      last?.created ?? null,
      last?.id ?? null,
      batchSize,
    ]);
    pruned += await db.transaction((tx) =>
      pruneBatch(
        tx,
        page.rows.map(({ id }) => id),
        includeResources,
        archive,
      ),
    );
    last = page.rows.at(-1);
    if (page.rows.length < batchSize) return pruned;
  }
}

async function pruneBatch(
  tx: DatabaseTransaction,
  ids: readonly string[],
  includeResources: boolean,
  archive: PruneOptions['archive'],
): Promise<number> {
  const { rows } = await tx.query<{ id: string }>(finished, [ids, includeResources]);
  if (rows.length === 0) return 0;
  const gone = rows.map(({ id }) => id);
  const intents = archive ? await readWithHistory(tx, gone) : [];
  await tx.query(deletion, [gone]);
  await archive?.(intents, { tx });
  return gone.length;
}

async function readWithHistory(tx: Queryable, ids: readonly string[]): Promise<readonly ArchivedIntent[]> {
  const changes = new Map<string, StateChange[]>(ids.map((id) => [id, []]));
  const history = await tx.query<HistoryRow & { readonly intent_id: string }>(
    `select intent_id, ${historyColumns} from express_intents.history where intent_id = ${isGiven}
     order by intent_id, number`,
    [ids],
  );
  for (const row of history.rows) changes.get(row.intent_id)?.push(toStateChange(row));
  const { rows } = await tx.query<IntentRow>(
    `select ${intentColumns} from ${tablesFrom('intents i')} where i.id = ${isGiven} order by i.created_at, i.id`,
    [ids],
  );
  return rows.map((row) => Object.freeze({ ...toLedgerIntent(row), history: changes.get(row.id) ?? [] }));
}
