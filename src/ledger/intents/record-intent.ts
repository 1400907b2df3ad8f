import { IntentError } from '../../errors.js';
import type { Queryable } from '../database/database.js';
import type { BrowserIntent, Idempotency, NewIntent, ReplayedIntent } from '../ledger.js';
import { type IntentRow, type TermsRow, termsColumns, toRecordedTerms } from './intent-row.js';

/** When a payment is first polled, and when it expires, in milliseconds. */
export interface WatchTimes {
  readonly watchFirstMs: number;
  readonly watchMs: number;
}

const termColumns = 'id, kind, amount, currency, destination, description, login, resource, metadata, browser';
const termPlaceholders = '$1, $2, $3::numeric, $4, $5, $6, $7, $8, $9::jsonb, $10';

function termValues({ id, terms, browser }: NewIntent): unknown[] {
  const { amount = null, currency = null, destination = null, login = false } = terms ?? {};
  const metadata = JSON.stringify(terms?.metadata ?? {});
  const kind = terms ? 'payment' : 'login';
  const [description, resource] = [terms?.description ?? null, terms?.resource ?? null];
  return [id, kind, amount, currency, destination, description, login, resource, metadata, browser];
}

/** Only payments are polled. A login is completed by the browser that created it. */
const firstPoll = (kind: string, ms: string): string =>
  `case when ${kind} = 'payment' then now() + ${ms}::float8 * interval '1 millisecond' end`;

export async function recordIntent(db: Queryable, intent: NewIntent, times: WatchTimes): Promise<void> {
  await db.query(
    `insert into express_intents.intents (${termColumns}, state, due_at, watch_until)
     values (${termPlaceholders}, 'created', ${firstPoll('$2', '$11')}, now() + $12::float8 * interval '1 millisecond')`,
    [...termValues(intent), times.watchFirstMs, times.watchMs],
  );
}

/** Records an intent before it is sent to the payment service. False if its idempotency key is already used. */
export async function reserveIntent(db: Queryable, intent: NewIntent, idempotency: Idempotency): Promise<boolean> {
  const { key, fingerprint, sealedSecret } = idempotency;
  const { rowCount } = await db.query(
    `insert into express_intents.intents (${termColumns}, state, idempotency_key, fingerprint, sealed_secret)
     values (${termPlaceholders}, 'creating', $11, $12, $13)
     on conflict (browser, idempotency_key) where idempotency_key is not null do nothing`,
    [...termValues(intent), key, fingerprint, sealedSecret],
  );
  return rowCount === 1;
}

/** Records that the payment service has accepted a reserved intent. @throws {IntentError} `internal_error` if it is missing */
export async function confirmIntent(db: Queryable, id: string, times: WatchTimes): Promise<void> {
  const { rowCount } = await db.query(
    `update express_intents.intents i
     set state = 'created', due_at = ${firstPoll('i.kind', '$2')}, watch_until = now() + $3::float8 * interval '1 millisecond'
     where id = $1 and state = 'creating'`,
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
