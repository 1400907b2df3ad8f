import { IntentError } from '../../errors.js';
import type { Queryable } from '../database/database.js';
import { prepared } from '../database/prepared.js';
import type { Idempotency, NewIntent } from '../ledger.js';
import { assignmentsOf } from '../write-transition.js';
import { isGiven } from './intent-row.js';

/** When a payment is first polled, and when it expires, in milliseconds. */
export interface WatchTimes {
  readonly watchFirstMs: number;
  readonly watchMs: number;
}

// A statement writes any number of intents. Each column is a parameter: an array with one value for each intent.

const termColumns =
  'id, kind, amount, currency, destination, description, login, resource, metadata, browser, exchange_rate, quarks';

const termParameters = `$1::text[], $2::text[], $3::numeric[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::text[],
  $9::jsonb[], $10::bytea[], $11::numeric[], $12::bigint[]`;

function termValues(intents: readonly NewIntent[]): unknown[][] {
  const terms = intents.map((intent) => intent.terms);
  return [
    intents.map(({ id }) => id),
    terms.map((one) => (one ? 'payment' : 'login')),
    terms.map((one) => one?.amount ?? null),
    terms.map((one) => one?.currency ?? null),
    terms.map((one) => one?.destination ?? null),
    terms.map((one) => one?.description ?? null),
    terms.map((one) => one?.login ?? false),
    terms.map((one) => one?.resource ?? null),
    terms.map((one) => JSON.stringify(one?.metadata ?? {})),
    intents.map(({ browser }) => browser),
    terms.map((one) => one?.exact?.exchangeRate ?? null),
    terms.map((one) => one?.exact?.quarks ?? null),
  ];
}

/** The rows of the progress: of each payment, and of each intent that logs in. */
const progressOf = (given: string, state: string, due: string): string => `
  payments as (
    insert into express_intents.payments (intent_id, state, browser, resource, due_at, watch_until)
    select id, '${state}', case when resource is not null then browser end, resource, ${due} from ${given} where kind = 'payment'),
  logins as (
    insert into express_intents.logins (intent_id, state) select id, '${state}' from ${given} where kind = 'login' or login)`;

const after = (ms: string): string => `now() + ${ms}::float8 * interval '1 millisecond'`;

export async function recordIntents(db: Queryable, intents: readonly NewIntent[], times: WatchTimes): Promise<void> {
  await db.query(
    prepared(`with given as materialized (select * from unnest(${termParameters}) given (${termColumns})),
     ${progressOf('given', 'created', `${after('$13')}, ${after('$14')}`)}
     insert into express_intents.intents (${termColumns}) select * from given`),
    [...termValues(intents), times.watchFirstMs, times.watchMs],
  );
}

export interface Reservation {
  readonly intent: NewIntent;
  readonly idempotency: Idempotency;
}

/**
 * Records intents before they are sent to the sequencer. Inserts in the order of the keys: otherwise two processes with
 * the same keys could deadlock.
 * @returns for each whether it was recorded. False if its idempotency key is already used
 */
export async function reserveIntents(db: Queryable, reservations: readonly Reservation[]): Promise<boolean[]> {
  const keys = reservations.map(({ idempotency }) => idempotency);
  const { rows } = await db.query<{ id: string }>(
    prepared(`with added as (
       insert into express_intents.intents (${termColumns}, idempotency_key, fingerprint, sealed_secret)
       select ${termColumns}, idempotency_key, fingerprint, sealed_secret
       from unnest(${termParameters}, $13::text[], $14::bytea[], $15::text[])
         given (${termColumns}, idempotency_key, fingerprint, sealed_secret)
       order by browser, idempotency_key
       on conflict (browser, idempotency_key) where idempotency_key is not null do nothing
       returning id, kind, login, browser, resource),
     ${progressOf('added', 'creating', 'null, null')}
     select id from added`),
    [
      ...termValues(reservations.map(({ intent }) => intent)),
      keys.map(({ key }) => key),
      keys.map(({ fingerprint }) => fingerprint),
      keys.map(({ sealedSecret }) => sealedSecret),
    ],
  );
  const recorded = new Set(rows.map(({ id }) => id));
  return reservations.map(({ intent }) => recorded.has(intent.id));
}

/** Confirms the intents `$1`, and writes their history. `locking`: whether it skips locked rows or waits for them. */
const confirmStatement = (locking: 'skip locked' | ''): string => {
  const reserved = (table: string): string => `select intent_id from express_intents.${table}
       where intent_id = ${isGiven} and state = 'creating' for update ${locking}`;
  return `with given as (select $2::float8 as due_ms, $3::float8 as watch_ms),
     paid as (
       update express_intents.payments p set ${assignmentsOf('confirm')} from given
       where p.intent_id = any(array(${reserved('payments')})) returning p.intent_id),
     logged as (
       update express_intents.logins set state = 'created'
       where intent_id = any(array(${reserved('logins')})) returning intent_id),
     confirmed as (select intent_id from paid union select intent_id from logged),
     recorded as (
       insert into express_intents.history (intent_id, from_state, to_state, attempts)
       select intent_id, 'creating', 'created', 0 from confirmed)
     select intent_id as id from confirmed`;
};
const confirmSkipping = prepared(confirmStatement('skip locked'));
const confirmWaiting = prepared(confirmStatement(''));

/**
 * Records that the sequencer has accepted reserved intents.
 * @returns for each whether this call confirmed it. False if it is missing, already confirmed, or locked by another transaction
 */
export async function confirmIntents(db: Queryable, ids: readonly string[], times: WatchTimes): Promise<boolean[]> {
  const { rows } = await db.query<{ id: string }>(confirmSkipping, [ids, times.watchFirstMs, times.watchMs]);
  const confirmed = new Set(rows.map(({ id }) => id));
  return ids.map((id) => confirmed.has(id));
}

/** Confirms one intent, and waits if it is locked. @throws {IntentError} `internal_error` if it is missing */
export async function confirmIntent(db: Queryable, id: string, times: WatchTimes): Promise<void> {
  const { rowCount } = await db.query(confirmWaiting, [[id], times.watchFirstMs, times.watchMs]);
  if (rowCount === 1) return;
  // A concurrent request with the same key may have confirmed it.
  const found = await db.query('select from express_intents.intents where id = $1', [id]);
  if (found.rowCount === 0)
    throw new IntentError(
      'internal_error',
      `The ledger no longer has the reserved intent ${id}. The database was probably restored or emptied. Create a new intent.`,
    );
}
