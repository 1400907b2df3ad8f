import type { Queryable } from './database.js';
import { type IntentRow, intentColumns, toLedgerIntent } from './intent-row.js';
import type { IntentState } from './intent-state.js';
import type { IntentPage, LedgerIntent, ListOptions, StateChange } from './ledger.js';
import { parseListOptions, toCursor } from './list-options.js';

/** Those that have settled, the largest first; then those that will, and those that may. */
export async function findPaymentsFor(
  db: Queryable,
  browser: Uint8Array,
  resource: string,
): Promise<readonly LedgerIntent[]> {
  const { rows } = await db.query<IntentRow>(
    `select ${intentColumns} from express_intents.intents i
     where browser = $1 and resource = $2 and state in ('settled', 'submitted', 'open')
     order by state <> 'settled', state <> 'submitted', case when state = 'settled' then amount end desc, created_at desc limit 20`,
    [browser, resource],
  );
  return rows.map(toLedgerIntent);
}

export async function findIntent(db: Queryable, id: string): Promise<LedgerIntent | undefined> {
  const { rows } = await db.query<IntentRow>(`select ${intentColumns} from express_intents.intents i where id = $1`, [
    id,
  ]);
  return rows[0] && toLedgerIntent(rows[0]);
}

type ListedRow = IntentRow & { readonly created: string };

/** The newest first, those of one moment by their ids. @throws {IntentError} `invalid_request` */
export async function listIntents(db: Queryable, options: ListOptions): Promise<IntentPage> {
  const { state, after, limit } = parseListOptions(options);
  const { rows } = await db.query<ListedRow>(
    `select ${intentColumns}, i.created_at::text as created from express_intents.intents i
     where ($1::text is null or state = $1) and ($2::text is null or (created_at, id) < ($2::timestamptz, $3::text))
     order by created_at desc, id desc limit $4::int`,
    [state ?? null, after?.created ?? null, after?.id ?? null, limit + 1],
  );
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { intents: page.map(toLedgerIntent), next: last && rows.length > limit ? toCursor(last) : undefined };
}

export interface HistoryRow {
  readonly at_ms: number;
  readonly from_state: IntentState;
  readonly to_state: IntentState;
  readonly history_attempts: string;
}

/** What is read of a change, as {@link HistoryRow} has it. */
export const historyColumns = `extract(epoch from at)::float8 * 1000 as at_ms, from_state, to_state,
  attempts::text as history_attempts`;

export function toStateChange({ at_ms, from_state: from, to_state: to, history_attempts }: HistoryRow): StateChange {
  return { at: new Date(at_ms), from, to, attempts: Number(history_attempts) };
}

export async function historyOf(db: Queryable, id: string): Promise<readonly StateChange[]> {
  const { rows } = await db.query<HistoryRow>(
    `select ${historyColumns} from express_intents.history where intent_id = $1 order by number`,
    [id],
  );
  return rows.map(toStateChange);
}

/** Takes up what was given up. A dead letter goes on where its hook failed; anything else is watched once more. */
export async function retryIntent(db: Queryable, id: string, watchMs: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update express_intents.intents set
       state = case when state <> 'dead' then 'open' when dead_hook = 'onReversed' then 'settled' else 'submitted' end,
       dead_hook = null, attempts = 0, due_at = now(), leased_until = null,
       watch_until = greatest(watch_until, now() + $2::float8 * interval '1 millisecond')
     where id = $1 and state in ('dead', 'expired', 'reversed')`,
    [id, watchMs],
  );
  return rowCount === 1;
}
