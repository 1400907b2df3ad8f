import type { RecordedExact } from '../../intents/exact-terms.js';
import type { IntentState, LedgerIntent, LedgerLogin, LedgerPayment, RecordedTerms, StateChange } from '../ledger.js';

/** The columns of an intent as text, number and boolean. An app can change how drivers parse other types. */
export const intentColumns = `
  i.id, i.kind, i.state, i.amount::text as amount, i.currency,
  i.exchange_rate::text as exchange_rate, i.quarks::text as quarks, i.destination, i.description, i.login, i.resource, i.user_id,
  i.metadata::text as metadata, i.dead_letter_hook, i.last_error, i.attempts::text as attempts,
  extract(epoch from i.created_at)::float8 * 1000 as created_ms,
  extract(epoch from i.submitted_at)::float8 * 1000 as submitted_ms,
  extract(epoch from i.settled_at)::float8 * 1000 as settled_ms,
  extract(epoch from i.reversed_at)::float8 * 1000 as reversed_ms,
  extract(epoch from i.login_completed_at)::float8 * 1000 as login_completed_ms,
  extract(epoch from i.due_at)::float8 * 1000 as due_ms`;

/** The time of creation as text, because a number would be rounded. The format does not depend on `DateStyle`. */
export const createdText = `to_char(i.created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00'`;

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

/** The columns of {@link toRecordedTerms}. Each column costs CPU in the process and in Postgres, even without a row. */
export const termsColumns = `amount::text as amount, currency, exchange_rate::text as exchange_rate, quarks::text as quarks,
  destination, description, login, resource, metadata::text as metadata`;

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
