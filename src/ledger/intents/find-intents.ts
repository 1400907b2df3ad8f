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
  termsColumns,
  toLedgerIntent,
  toLedgerPayment,
  toRecordedTerms,
  toStateChange,
} from './intent-row.js';

export async function findIntent(db: Queryable, id: string): Promise<LedgerIntent | undefined> {
  const { rows } = await db.query<IntentRow>(
    prepared(`select ${intentColumns} from express_intents.intents i where id = $1`),
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

/** The first twenty in one state: a browser may have thousands of payments. */
const paymentsIn = (state: IntentState, place: number, order: string): string =>
  `(select id, ${place} as place from express_intents.intents
    where browser = $1 and resource = $2 and state = '${state}' order by ${order} limit 20)`;

/** At most twenty: settled payments, largest first; then submitted ones, dead letters and created ones. */
export async function findPaymentsFor(
  db: Queryable,
  browser: Uint8Array,
  resource: string,
): Promise<readonly ResourcePayment[]> {
  const { rows } = await db.query<IntentRow & { readonly due_in_ms: number | null }>(
    prepared(`select ${intentColumns}, extract(epoch from i.due_at - now())::float8 * 1000 as due_in_ms
     from express_intents.intents i join (
       ${paymentsIn('settled', 0, 'amount desc, created_at desc')} union all
       ${paymentsIn('submitted', 1, 'created_at desc')} union all
       ${paymentsIn('dead', 2, 'created_at desc')} union all
       ${paymentsIn('created', 3, 'created_at desc')}) found on found.id = i.id
     order by found.place, case when found.place = 0 then i.amount end desc, i.created_at desc limit 20`),
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
    prepared(`select id, state, ${termsColumns}, fingerprint, sealed_secret from express_intents.intents
     where browser = $1 and idempotency_key = $2`),
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
