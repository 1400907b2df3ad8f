import { IntentError } from '../../errors.js';
import type { Queryable } from '../database/database.js';
import { prepared } from '../database/prepared.js';
import type { Idempotency, NewIntent } from '../ledger.js';

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

/** Only payments are polled. A login is completed by the browser that created it. */
const firstPoll = (kind: string, ms: string): string =>
  `case when ${kind} = 'payment' then now() + ${ms}::float8 * interval '1 millisecond' end`;

export async function recordIntents(db: Queryable, intents: readonly NewIntent[], times: WatchTimes): Promise<void> {
  await db.query(
    prepared(`insert into express_intents.intents (${termColumns}, state, due_at, watch_until)
     select given.*, 'created', ${firstPoll('kind', '$13')}, now() + $14::float8 * interval '1 millisecond'
     from unnest(${termParameters}) as given (${termColumns})`),
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
    prepared(`insert into express_intents.intents (${termColumns}, state, idempotency_key, fingerprint, sealed_secret)
     select ${termColumns}, 'creating', idempotency_key, fingerprint, sealed_secret
     from unnest(${termParameters}, $13::text[], $14::bytea[], $15::text[])
       as given (${termColumns}, idempotency_key, fingerprint, sealed_secret)
     order by browser, idempotency_key
     on conflict (browser, idempotency_key) where idempotency_key is not null do nothing
     returning id`),
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

const confirmedColumns = `state = 'created', due_at = ${firstPoll('i.kind', '$2')},
     watch_until = now() + $3::float8 * interval '1 millisecond'`;

/**
 * The condition of a reserved intent. `is true` prevents the use of the index `intents_state`, which has a dead entry for each
 * recently confirmed intent.
 */
const isReserved = `(i.state = 'creating') is true`;

/**
 * Records that the sequencer has accepted reserved intents.
 * @returns for each whether this call confirmed it. False if it is missing, already confirmed, or locked by another transaction
 */
export async function confirmIntents(db: Queryable, ids: readonly string[], times: WatchTimes): Promise<boolean[]> {
  const { rows } = await db.query<{ id: string }>(
    prepared(`with reserved as materialized (
       select id from express_intents.intents i where id = any($1::text[]) and ${isReserved} for update skip locked)
     update express_intents.intents i set ${confirmedColumns} from reserved where i.id = reserved.id returning i.id`),
    [ids, times.watchFirstMs, times.watchMs],
  );
  const confirmed = new Set(rows.map(({ id }) => id));
  return ids.map((id) => confirmed.has(id));
}

/** Confirms one intent, and waits if it is locked. @throws {IntentError} `internal_error` if it is missing */
export async function confirmIntent(db: Queryable, id: string, times: WatchTimes): Promise<void> {
  const { rowCount } = await db.query(
    prepared(`update express_intents.intents i set ${confirmedColumns} where id = $1 and ${isReserved}`),
    [id, times.watchFirstMs, times.watchMs],
  );
  if (rowCount === 1) return;
  // A concurrent request with the same key may have confirmed it.
  const found = await db.query('select from express_intents.intents where id = $1', [id]);
  if (found.rowCount === 0)
    throw new IntentError(
      'internal_error',
      `The ledger no longer has the reserved intent ${id}. The database was probably restored or emptied. Create a new intent.`,
    );
}
