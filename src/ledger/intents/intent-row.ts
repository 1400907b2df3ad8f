import type { RecordedExact } from '../../intents/exact-terms.js';
import type { IntentState, LedgerIntent, LedgerLogin, LedgerPayment, RecordedTerms, StateChange } from '../ledger.js';

/** The columns of {@link toRecordedTerms}. Each column costs CPU in the process and in Postgres, even without a row. */
export const termsColumns = `i.amount::text as amount, i.currency, i.exchange_rate::text as exchange_rate, i.quarks::text as quarks,
  i.destination, i.description, i.login, i.resource, i.metadata::text as metadata`;

/** The columns of an intent as text, number and boolean. An app can change how drivers parse other types. */
export const intentColumns = `
  i.id, i.kind, ${termsColumns}, coalesce(p.state, l.state) as state, l.user_id, coalesce(p.attempts, 0)::text as attempts,
  case when p.state = 'dead' then f.hook end as dead_letter_hook, case when p.has_failed then f.error end as last_error,
  extract(epoch from i.created_at)::float8 * 1000 as created_ms,
  extract(epoch from p.submitted_at)::float8 * 1000 as submitted_ms,
  extract(epoch from p.settled_at)::float8 * 1000 as settled_ms,
  extract(epoch from p.reversed_at)::float8 * 1000 as reversed_ms,
  extract(epoch from l.completed_at)::float8 * 1000 as login_completed_ms,
  extract(epoch from p.due_at)::float8 * 1000 as due_ms`;

/**
 * The tables of {@link intentColumns}, joined to the rows of one of them: `intents i`, `payments p`, `logins l`, or a query of such rows.
 * Each row is looked up by its key: otherwise Postgres reads whole tables for a page of intents.
 */
export function tablesFrom(first: string): string {
  const alias = first.at(-1);
  const id = alias === 'i' ? 'i.id' : `${alias}.intent_id`;
  const others = ['payments p', 'logins l', 'failures f'].filter((name) => name.at(-1) !== alias);
  const intent = `join lateral (select * from express_intents.intents where id = ${id} limit 1) i on true`;
  const joins = others.map((name) => {
    const row = `select * from express_intents.${name.slice(0, -2)} where intent_id = ${id} limit 1`;
    return `left join lateral (${row}) ${name.at(-1)} on true`;
  });
  const rows = first.startsWith('(') ? first : `express_intents.${first}`;
  return [rows, ...(alias === 'i' ? [] : [intent]), ...joins].join(' ');
}

/** The rows whose key is in the array `$1`. The database expects few, so it uses the index, whatever the number. */
export const isGiven = 'any(array(select unnest($1::text[])))';

/** A time as text, because a number would be rounded. The format does not depend on `DateStyle`. */
export const exactText = (time: string): string =>
  `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00'`;

export interface IntentRow {
  readonly id: string;
  readonly kind: 'payment' | 'login';
  readonly state: IntentState;
  readonly amount: string | null;
  readonly currency: string | null;
  readonly exchange_rate: string | null;
  readonly quarks: string | null;
  readonly destination: string | null;
  readonly description: string | null;
  readonly login: boolean;
  readonly resource: string | null;
  readonly user_id: string | null;
  readonly metadata: string;
  readonly dead_letter_hook: 'onPaid' | 'onReversed' | 'verifyPayment' | null;
  readonly last_error: string | null;
  readonly attempts: string;
  readonly created_ms: number;
  readonly submitted_ms: number | null;
  readonly settled_ms: number | null;
  readonly reversed_ms: number | null;
  readonly login_completed_ms: number | null;
  readonly due_ms: number | null;
}

export function toLedgerIntent(row: IntentRow): LedgerIntent {
  return row.kind === 'payment' ? toLedgerPayment(row) : Object.freeze({ kind: 'login', ...progressOf(row) });
}

export function toLedgerPayment(row: IntentRow): LedgerPayment {
  const terms = toRecordedTerms(row);
  if (!terms) throw new Error(`The payment ${row.id} has no terms.`);
  return Object.freeze({ kind: 'payment', ...progressOf(row), ...terms });
}

function progressOf(row: IntentRow): Omit<LedgerLogin, 'kind'> {
  return {
    id: row.id,
    state: row.state,
    userId: row.user_id ?? undefined,
    createdAt: new Date(row.created_ms),
    submittedAt: toDate(row.submitted_ms),
    settledAt: toDate(row.settled_ms),
    reversedAt: toDate(row.reversed_ms),
    loginCompletedAt: toDate(row.login_completed_ms),
    dueAt: toDate(row.due_ms),
    attempts: Number(row.attempts),
    deadLetterHook: row.dead_letter_hook ?? undefined,
    lastError: row.last_error ?? undefined,
  };
}

export type TermsRow = Pick<
  IntentRow,
  'amount' | 'currency' | 'exchange_rate' | 'quarks' | 'destination' | 'description' | 'login' | 'resource' | 'metadata'
>;

export function toRecordedTerms(row: TermsRow): RecordedTerms | undefined {
  const { amount, currency, destination, login, metadata } = row;
  if (amount === null || currency === null || destination === null) return undefined;
  const [description, resource] = [row.description ?? undefined, row.resource ?? undefined];
  return {
    amount,
    currency,
    exact: exactOf(row),
    destination,
    description,
    login,
    resource,
    metadata: JSON.parse(metadata),
  };
}

export function exactOf({
  exchange_rate,
  quarks,
}: Pick<IntentRow, 'exchange_rate' | 'quarks'>): RecordedExact | undefined {
  return exchange_rate === null || quarks === null ? undefined : { exchangeRate: Number(exchange_rate), quarks };
}

const toDate = (ms: number | null): Date | undefined => (ms === null ? undefined : new Date(ms));

export const historyColumns = `extract(epoch from at)::float8 * 1000 as at_ms, from_state, to_state,
  attempts::text as history_attempts`;

export interface HistoryRow {
  readonly at_ms: number;
  readonly from_state: IntentState;
  readonly to_state: IntentState;
  readonly history_attempts: string;
}

export function toStateChange({ at_ms, from_state: from, to_state: to, history_attempts }: HistoryRow): StateChange {
  return { at: new Date(at_ms), from, to, attempts: Number(history_attempts) };
}
