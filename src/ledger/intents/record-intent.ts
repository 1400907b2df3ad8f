import { IntentError } from '../../errors.js';
import type { Queryable } from '../database/database.js';
import type { Idempotency, NewIntent, RepeatedIntent } from '../ledger.js';
import { type IntentRow, intentColumns, termsOfRow } from './intent-row.js';

/** When an intent is first looked at, and how long it is watched; in milliseconds. */
export interface WatchTimes {
  readonly watchFirstMs: number;
  readonly watchMs: number;
}

const termColumns = 'id, kind, amount, currency, destination, login, resource, metadata, browser';
const termValues = '$1, $2, $3::numeric, $4, $5, $6, $7, $8::jsonb, $9';

function termsIn({ id, terms, browser }: NewIntent): unknown[] {
  const { amount = null, currency = null, destination = null, login = false } = terms ?? {};
  const metadata = JSON.stringify(terms?.metadata ?? {});
  const kind = terms ? 'payment' : 'login';
  return [id, kind, amount, currency, destination, login, terms?.resource ?? null, metadata, browser];
}

/** Only a payment is watched: a login is completed by the browser that began it, or not at all. */
const firstLook = (kind: string, ms: string): string =>
  `case when ${kind} = 'payment' then now() + ${ms}::float8 * interval '1 millisecond' end`;

/** Writes an intent down that the sequencer has accepted. */
export async function recordIntent(db: Queryable, intent: NewIntent, times: WatchTimes): Promise<void> {
  await db.query(
    `insert into express_intents.intents (${termColumns}, state, due_at, watch_until)
     values (${termValues}, 'open', ${firstLook('$2', '$10')}, now() + $11::float8 * interval '1 millisecond')`,
    [...termsIn(intent), times.watchFirstMs, times.watchMs],
  );
}

/** Writes an intent down that the sequencer is still to be asked to accept. False where its key is taken. */
export async function reserveIntent(db: Queryable, intent: NewIntent, idempotency: Idempotency): Promise<boolean> {
  const { key, fingerprint, sealedSecret } = idempotency;
  const { rowCount } = await db.query(
    `insert into express_intents.intents (${termColumns}, state, idempotency_key, fingerprint, sealed_secret)
     values (${termValues}, 'creating', $10, $11, $12)
     on conflict (browser, idempotency_key) where idempotency_key is not null do nothing`,
    [...termsIn(intent), key, fingerprint, sealedSecret],
  );
  return rowCount === 1;
}

/**
 * The sequencer has accepted what was reserved.
 * @throws {IntentError} `internal_error` where it is not there: then its secret must not leave
 */
export async function confirmIntent(db: Queryable, id: string, times: WatchTimes): Promise<void> {
  const { rowCount } = await db.query(
    `update express_intents.intents i
     set state = 'open', due_at = ${firstLook('i.kind', '$2')}, watch_until = now() + $3::float8 * interval '1 millisecond'
     where id = $1 and state = 'creating'`,
    [id, times.watchFirstMs, times.watchMs],
  );
  if (rowCount === 1) return;
  // Another request with the same key may have been here before.
  const found = await db.query('select from express_intents.intents where id = $1', [id]);
  if (found.rowCount === 0) throw new IntentError('internal_error', `The ledger has lost the intent ${id}.`);
}

type RepeatedRow = IntentRow & { readonly fingerprint: Uint8Array; readonly sealed_secret: string };

/** What is kept under this key for this browser. */
export async function findRepeated(
  db: Queryable,
  browser: Uint8Array,
  key: string,
): Promise<RepeatedIntent | undefined> {
  const { rows } = await db.query<RepeatedRow>(
    `select ${intentColumns}, i.fingerprint, i.sealed_secret from express_intents.intents i
     where browser = $1 and idempotency_key = $2`,
    [browser, key],
  );
  const [row] = rows;
  if (!row) return undefined;
  const { id, state, fingerprint, sealed_secret: sealedSecret } = row;
  return { id, state, terms: termsOfRow(row), fingerprint: new Uint8Array(fingerprint), sealedSecret };
}

/** What was sealed for this browser and no other. */
export async function findSealedSecret(db: Queryable, id: string, browser: Uint8Array): Promise<string | undefined> {
  const { rows } = await db.query<{ sealed_secret: string | null }>(
    'select sealed_secret from express_intents.intents where id = $1 and browser = $2',
    [id, browser],
  );
  return rows[0]?.sealed_secret ?? undefined;
}
