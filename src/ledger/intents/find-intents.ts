import type { Queryable } from '../database/database.js';
import { prepared } from '../database/prepared.js';
import type {
  BrowserIntent,
  IntentState,
  LedgerIntent,
  ReplayedIntent,
  ResourcePayment,
  StateChange,
} from '../ledger.js';
import {
  type HistoryRow,
  historyColumns,
  type IntentRow,
  intentColumns,
  type TermsRow,
  tablesFrom,
  termsColumns,
  toLedgerIntent,
  toLedgerPayment,
  toRecordedTerms,
  toStateChange,
} from './intent-row.js';

export async function findIntent(db: Queryable, id: string): Promise<LedgerIntent | undefined> {
  const { rows } = await db.query<IntentRow>(
    prepared(`select ${intentColumns} from ${tablesFrom('intents i')} where i.id = $1`),
    [id],
  );
  return rows[0] && toLedgerIntent(rows[0]);
}

export async function historyOf(db: Queryable, id: string): Promise<readonly StateChange[]> {
  const { rows } = await db.query<HistoryRow>(
    `select ${historyColumns} from express_intents.history where intent_id = $1 order by number`,
    [id],
  );
  return rows.map(toStateChange);
}

/** A browser may have thousands of payments in one state. Of the settled ones, the largest are wanted, not the most recent. */
const paymentsIn = (state: IntentState, place: number, limit: string): string =>
  `(select *, ${place} as place from express_intents.payments
    where browser = $1 and resource = $2 and listed = '${state}' order by created_at desc ${limit})`;

const paymentsForResource = `${paymentsIn('settled', 0, '')} union all ${paymentsIn('submitted', 1, 'limit 20')}
  union all ${paymentsIn('dead', 2, 'limit 20')} union all ${paymentsIn('created', 3, 'limit 20')}`;

/** At most twenty: settled payments, largest first; then submitted ones, dead letters and created ones. */
export async function findPaymentsFor(
  db: Queryable,
  browser: Uint8Array,
  resource: string,
): Promise<readonly ResourcePayment[]> {
  const { rows } = await db.query<IntentRow & { readonly due_in_ms: number | null }>(
    prepared(`select ${intentColumns}, extract(epoch from p.due_at - now())::float8 * 1000 as due_in_ms
     from ${tablesFrom(`(${paymentsForResource}) p`)}
     order by p.place, case when p.place = 0 then i.amount end desc, p.created_at desc limit 20`),
    [browser, resource],
  );
  return rows.map((row) => ({ ...toLedgerPayment(row), dueInMs: row.due_in_ms ?? undefined }));
}

type ReplayedRow = Pick<IntentRow, 'id' | 'state'> &
  TermsRow & { readonly fingerprint: Uint8Array; readonly sealed_secret: string };

export async function findByIdempotencyKey(
  db: Queryable,
  browser: Uint8Array,
  key: string,
): Promise<ReplayedIntent | undefined> {
  const { rows } = await db.query<ReplayedRow>(
    prepared(`select id, coalesce(
         (select state from express_intents.payments where intent_id = i.id),
         (select state from express_intents.logins where intent_id = i.id)) as state,
       ${termsColumns}, fingerprint, sealed_secret
     from express_intents.intents i where browser = $1 and idempotency_key = $2`),
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
    prepared('select sealed_secret, description from express_intents.intents where id = $1 and browser = $2'),
    [id, browser],
  );
  const [row] = rows;
  return row && { sealedSecret: row.sealed_secret ?? undefined, description: row.description ?? undefined };
}
