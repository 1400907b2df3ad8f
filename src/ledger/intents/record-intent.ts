import { Batcher } from '../../async/batch.js';
import { IntentError } from '../../errors.js';
import type { Queryable } from '../database/database.js';
import type { BrowserIntent, Idempotency, NewIntent, ReplayedIntent } from '../ledger.js';
import { type IntentRow, type TermsRow, termsColumns, toRecordedTerms } from './intent-row.js';

/** When a payment is first polled, and when it expires, in milliseconds. */
export interface WatchTimes {
  readonly watchFirstMs: number;
  readonly watchMs: number;
}

// A statement writes any number of intents. Each parameter is an array with one value for each intent.

const termColumns = 'id, kind, amount, currency, destination, description, login, resource, metadata, browser';

const termParameters = `$1::text[], $2::text[], $3::numeric[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::text[],
  $9::jsonb[], $10::bytea[]`;

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
  ];
}

/** Only payments are polled. A login is completed by the browser that created it. */
const firstPoll = (kind: string, ms: string): string =>
  `case when ${kind} = 'payment' then now() + ${ms}::float8 * interval '1 millisecond' end`;

export async function recordIntents(db: Queryable, intents: readonly NewIntent[], times: WatchTimes): Promise<void> {
  await db.query(
    `insert into express_intents.intents (${termColumns}, state, due_at, watch_until)
     select given.*, 'created', ${firstPoll('kind', '$11')}, now() + $12::float8 * interval '1 millisecond'
     from unnest(${termParameters}) as given (${termColumns})`,
    [...termValues(intents), times.watchFirstMs, times.watchMs],
  );
}

export interface Reservation {
  readonly intent: NewIntent;
  readonly idempotency: Idempotency;
}

/**
 * Records intents before they are sent to the payment service. In the order of their keys, so that two processes with the same
 * keys cannot deadlock.
 * @returns for each whether it was recorded. False if its idempotency key is already used
 */
export async function reserveIntents(db: Queryable, reservations: readonly Reservation[]): Promise<boolean[]> {
  const keys = reservations.map(({ idempotency }) => idempotency);
  const { rows } = await db.query<{ id: string }>(
    `insert into express_intents.intents (${termColumns}, state, idempotency_key, fingerprint, sealed_secret)
     select ${termColumns}, 'creating', idempotency_key, fingerprint, sealed_secret
     from unnest(${termParameters}, $11::text[], $12::bytea[], $13::text[])
       as given (${termColumns}, idempotency_key, fingerprint, sealed_secret)
     order by browser, idempotency_key
     on conflict (browser, idempotency_key) where idempotency_key is not null do nothing
     returning id`,
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

/**
 * Records that the payment service has accepted reserved intents.
 * @returns for each whether it exists. A concurrent request with the same key may have confirmed it
 */
export async function confirmIntents(db: Queryable, ids: readonly string[], times: WatchTimes): Promise<boolean[]> {
  // `is true` keeps Postgres from searching `intents_state`, which has the dead entries of all intents confirmed lately.
  const { rows } = await db.query<{ id: string }>(
    `update express_intents.intents i
     set state = 'created', due_at = ${firstPoll('i.kind', '$2')}, watch_until = now() + $3::float8 * interval '1 millisecond'
     where id = any($1::text[]) and (state = 'creating') is true
     returning id`,
    [ids, times.watchFirstMs, times.watchMs],
  );
  const existing = new Set(rows.map(({ id }) => id));
  const others = ids.filter((id) => !existing.has(id));
  if (others.length > 0) {
    const sql = 'select id from express_intents.intents where id = any($1::text[])';
    const found = await db.query<{ id: string }>(sql, [others]);
    for (const { id } of found.rows) existing.add(id);
  }
  return ids.map((id) => existing.has(id));
}

/** How many intents one statement writes, and how many of these statements run at the same time. */
const batchLimits = { maxItems: 64, maxRunning: 2 };

/** Writes the intents of concurrent requests together. Each caller waits until its own intent is committed. */
export class IntentRecorder {
  readonly #records: Batcher<NewIntent, undefined>;
  readonly #reservations: Batcher<Reservation, boolean>;
  readonly #confirmations: Batcher<string, boolean>;

  constructor(db: Queryable, times: WatchTimes) {
    // If the database rejects a statement, it has written nothing. After a lost connection it may have.
    const options = { ...batchLimits, isFaultOfItem: (error: unknown) => !(error instanceof IntentError) };
    const record = async (intents: readonly NewIntent[]) => {
      await recordIntents(db, intents, times);
      return intents.map(() => undefined);
    };
    this.#records = new Batcher({ ...options, run: record });
    this.#reservations = new Batcher({ ...options, run: (reservations) => reserveIntents(db, reservations) });
    this.#confirmations = new Batcher({ ...options, run: (ids) => confirmIntents(db, ids, times) });
  }

  record(intent: NewIntent): Promise<void> {
    return this.#records.add(intent);
  }

  /** False if the idempotency key is already used. */
  reserve(reservation: Reservation): Promise<boolean> {
    return this.#reservations.add(reservation);
  }

  /** @throws {IntentError} `internal_error` if the intent is missing */
  async confirm(id: string): Promise<void> {
    if (await this.#confirmations.add(id)) return;
    throw new IntentError(
      'internal_error',
      `The ledger no longer has the reserved intent ${id}. The database was probably restored or emptied. Create a new intent.`,
    );
  }
}

type ReplayedRow = Pick<IntentRow, 'id' | 'state'> &
  TermsRow & { readonly fingerprint: Uint8Array; readonly sealed_secret: string };

export async function findByIdempotencyKey(
  db: Queryable,
  browser: Uint8Array,
  key: string,
): Promise<ReplayedIntent | undefined> {
  const { rows } = await db.query<ReplayedRow>(
    `select id, state, ${termsColumns}, fingerprint, sealed_secret from express_intents.intents
     where browser = $1 and idempotency_key = $2`,
    [browser, key],
  );
  const [row] = rows;
  if (!row) return undefined;
  const { id, state, fingerprint, sealed_secret: sealedSecret } = row;
  return { id, state, terms: toRecordedTerms(row), fingerprint: new Uint8Array(fingerprint), sealedSecret };
}

/** Undefined for any browser except the one that created the intent. */
export async function findForBrowser(
  db: Queryable,
  id: string,
  browser: Uint8Array,
): Promise<BrowserIntent | undefined> {
  const { rows } = await db.query<{ sealed_secret: string | null; description: string | null }>(
    'select sealed_secret, description from express_intents.intents where id = $1 and browser = $2',
    [id, browser],
  );
  const [row] = rows;
  return row && { sealedSecret: row.sealed_secret ?? undefined, description: row.description ?? undefined };
}

/** Resumes a dead letter with the hook that failed; polls an expired or reversed intent again. */
export async function retryIntent(db: Queryable, id: string, watchMs: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update express_intents.intents set
       state = case when state <> 'dead' then 'created' when dead_letter_hook = 'onReversed' then 'settled' else 'submitted' end,
       dead_letter_hook = null, attempts = 0, due_at = now(), leased_until = null,
       watch_until = greatest(watch_until, now() + $2::float8 * interval '1 millisecond')
     where id = $1 and state in ('dead', 'expired', 'reversed')`,
    [id, watchMs],
  );
  return rowCount === 1;
}
