import type { Queryable } from '../database/database.js';
import type { IntentPage, LedgerIntent, ListOptions, StateChange } from '../ledger.js';
import { type IntentRow, intentColumns, toLedgerIntent } from './intent-row.js';
import type { IntentState } from './intent-state.js';
import { type Cursor, parseListOptions, toCursor } from './list-options.js';

/** Of one state, the first twenty: a browser may have begun thousands. */
const paymentsIn = (state: IntentState, place: number, order: string): string =>
  `(select id, ${place} as place from express_intents.intents
    where browser = $1 and resource = $2 and state = '${state}' order by ${order} limit 20)`;

/** Those that have settled, the largest first; then those that will, and those that may. */
export async function findPaymentsFor(
  db: Queryable,
  browser: Uint8Array,
  resource: string,
): Promise<readonly LedgerIntent[]> {
  const { rows } = await db.query<IntentRow>(
    `select ${intentColumns} from express_intents.intents i join (
       ${paymentsIn('settled', 0, 'amount desc, created_at desc')} union all
       ${paymentsIn('submitted', 1, 'created_at desc')} union all
       ${paymentsIn('open', 2, 'created_at desc')}) found on found.id = i.id
     order by found.place, case when found.place = 0 then i.amount end desc, i.created_at desc limit 20`,
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

/** What is open changes all the time, so that no index has it by its age: of so many it is picked out, and no more. */
const openAmong = 2_000;

const isAfter = '($1::text is null or (created_at, id) < ($1::timestamptz, $2::text))';

/** The newest first, those of one moment by their ids. @throws {IntentError} `invalid_request` */
export async function listIntents(db: Queryable, options: ListOptions): Promise<IntentPage> {
  const { state, after, limit } = parseListOptions(options);
  const end = state === 'open' ? await endOfLook(db, after) : undefined;
  const { rows } = await db.query<ListedRow>(
    `select ${intentColumns}, i.created_at::text as created from express_intents.intents i
     where ${isAfter} and ($3::text is null or (created_at, id) >= ($3::timestamptz, $4::text)) and ($5::text is null or state = $5)
     order by created_at desc, id desc limit $6::int`,
    [after?.created ?? null, after?.id ?? null, end?.created ?? null, end?.id ?? null, state ?? null, limit + 1],
  );
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : end;
  return { intents: page.map(toLedgerIntent), next: last && toCursor(last) };
}

/** The last of those that are looked at; undefined where there are fewer. */
async function endOfLook(db: Queryable, after: Cursor | undefined): Promise<Cursor | undefined> {
  const { rows } = await db.query<Cursor>(
    `select created_at::text as created, id from express_intents.intents where ${isAfter}
     order by created_at desc, id desc offset $3::int limit 1`,
    [after?.created ?? null, after?.id ?? null, openAmong - 1],
  );
  return rows[0];
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
