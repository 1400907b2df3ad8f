import type { Queryable } from './database/database.js';
import { hidden, prepared } from './database/prepared.js';
import { cleared, type TransitionName, transitions } from './transitions.js';

/** The named values, with their types. */
const valueTypes = {
  due_ms: 'float8',
  watch_ms: 'float8',
  attempts: 'int',
  timeouts: 'int',
  lane: 'text',
  hook: 'text',
  error: 'text',
} as const;
type ValueName = keyof typeof valueTypes;
export type TransitionValues = Readonly<Partial<Record<ValueName, unknown>>>;

/** The assignments of a transition, after `set`. A named value is a column of `given`. */
export function assignmentsOf(name: TransitionName): string {
  const { to, sets = {}, clears = [], fails } = transitions[name];
  const columns = {
    ...(to && { state: `'${to}'` }),
    ...('due_at' in sets && { due_set_at: 'now()' }),
    ...Object.assign({}, ...clears.map((group) => cleared[group])),
    ...(fails && { has_failed: 'true' }),
    ...sets,
  };
  return Object.entries(columns)
    .map(([column, value]) => `${column} = ${value}`)
    .join(', ');
}

/**
 * The statement of a transition, for any number of payments, with its history and failures. The parameters are arrays with one value for
 * each payment: id, state, token of the claim (null: any), then those of `names`.
 */
function statementOf(name: TransitionName): { readonly sql: string; readonly names: readonly ValueName[] } {
  const { to, fails } = transitions[name];
  const assignments = assignmentsOf(name);
  const inHistory = to ? ['attempts'] : [];
  const inFailures = fails ? ['error', 'hook'] : [];
  const names = (Object.keys(valueTypes) as ValueName[]).filter(
    (value) => assignments.includes(`given.${value}`) || [...inHistory, ...inFailures].includes(value),
  );
  const arrays = names.map((value, index) => `$${index + 4}::${valueTypes[value]}[]`);
  const used = [...new Set([...(to ? ['state'] : []), ...inHistory, ...inFailures])].map((value) => `, given.${value}`);
  const update = `update express_intents.payments p set ${assignments}
    from unnest(${['$1::text[]', '$2::text[]', '$3::bigint[]', ...arrays].map(hidden).join(', ')}) given (${['id, state, token', ...names].join(', ')})
    where p.intent_id = given.id and p.state = given.state and p.lease_token = coalesce(given.token, p.lease_token)
    returning given.id, extract(epoch from now())::float8 * 1000 as now_ms${used.join('')}`;
  const failures = `, failed as (
    insert into express_intents.failures (intent_id, error, hook) select id, error, hook from changed
    on conflict (intent_id) do update set error = excluded.error, hook = excluded.hook)`;
  const history = `, recorded as (
    insert into express_intents.history (intent_id, from_state, to_state, attempts)
    select id, state, '${to}', attempts from changed)`;
  const sql =
    used.length === 0
      ? update
      : `with changed as (${update})${fails ? failures : ''}${to ? history : ''} select id, now_ms from changed`;
  return { sql: prepared(sql), names };
}

const statements = new Map<TransitionName, ReturnType<typeof statementOf>>();

/** A payment to change. */
export interface TransitionWrite {
  readonly id: string;
  readonly state: string;
  /** Of the claim that must be valid. Null: any. */
  readonly leaseToken: string | null;
  readonly values: TransitionValues;
}

/** @returns for each `now()` of the write in milliseconds. Undefined if the payment has another state, or the claim is not valid */
export async function writeTransition(
  db: Queryable,
  name: TransitionName,
  writes: readonly TransitionWrite[],
): Promise<(number | undefined)[]> {
  const statement = statements.get(name) ?? statementOf(name);
  statements.set(name, statement);
  const { rows } = await db.query<{ readonly id: string; readonly now_ms: number }>(statement.sql, [
    writes.map(({ id }) => id),
    writes.map(({ state }) => state),
    writes.map(({ leaseToken }) => leaseToken),
    ...statement.names.map((value) => writes.map(({ values }) => values[value] ?? null)),
  ]);
  const times = new Map(rows.map(({ id, now_ms }) => [id, now_ms]));
  return writes.map(({ id }) => times.get(id));
}
