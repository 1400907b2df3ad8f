import { IntentError } from '../../errors.js';
import { requireKnown } from '../../reject-unknown.js';
import type { Queryable } from '../database/database.js';
import {
  type IntentPage,
  type IntentState,
  intentStates,
  type LedgerIntent,
  type ListOptions,
  type StateChange,
} from '../ledger.js';
import {
  type HistoryRow,
  historyColumns,
  type IntentRow,
  intentColumns,
  toLedgerIntent,
  toStateChange,
} from './intent-row.js';

export async function findIntent(db: Queryable, id: string): Promise<LedgerIntent | undefined> {
  const { rows } = await db.query<IntentRow>(`select ${intentColumns} from express_intents.intents i where id = $1`, [
    id,
  ]);
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

/** Settled payments, largest first; then submitted ones; then created ones. */
export async function findPaymentsFor(
  db: Queryable,
  browser: Uint8Array,
  resource: string,
): Promise<readonly LedgerIntent[]> {
  const { rows } = await db.query<IntentRow>(
    `select ${intentColumns} from express_intents.intents i join (
       ${paymentsIn('settled', 0, 'amount desc, created_at desc')} union all
       ${paymentsIn('submitted', 1, 'created_at desc')} union all
       ${paymentsIn('created', 2, 'created_at desc')}) found on found.id = i.id
     order by found.place, case when found.place = 0 then i.amount end desc, i.created_at desc limit 20`,
    [browser, resource],
  );
  return rows.map(toLedgerIntent);
}

/** The last intent of a page: the next page begins after it. */
interface Cursor {
  /** The time as the database prints it, because a Date has no microseconds. */
  readonly created: string;
  readonly id: string;
}

export interface ParsedListOptions {
  readonly state: IntentState | undefined;
  readonly after: Cursor | undefined;
  readonly limit: number;
}

const timestamp = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d(?::\d\d)*$/;

/** @throws {IntentError} `invalid_request` */
export function parseListOptions(options: ListOptions): ParsedListOptions {
  requireKnown('list', options, ['state', 'after', 'limit']);
  const { state, after, limit = 50 } = options;
  if (state !== undefined && !intentStates.includes(state)) {
    throw new IntentError('invalid_request', `The state must be one of ${intentStates.join(', ')}.`);
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000) {
    throw new IntentError('invalid_request', 'The limit must be a whole number from 1 to 1000.');
  }
  return { state, after: after === undefined ? undefined : parseCursor(after), limit };
}

function parseCursor(text: string): Cursor {
  const [created = '', id = ''] = Buffer.from(String(text), 'base64url').toString().split('|');
  if (timestamp.test(created) && /^\w{32,44}$/.test(id)) return { created, id };
  throw new IntentError(
    'invalid_request',
    'The cursor is invalid. Set `after` (--after) to the `next` of a previous page.',
  );
}

function formatCursor({ created, id }: Cursor): string {
  return Buffer.from(`${created}|${id}`).toString('base64url');
}

/** Open intents change too often for an index by age. A page of them scans this many intents and filters. */
const openScanned = 2_000;

const isAfter = '($1::text is null or (created_at, id) < ($1::timestamptz, $2::text))';

/** Newest first; equal times are ordered by id. @throws {IntentError} `invalid_request` */
export async function listIntents(db: Queryable, options: ListOptions): Promise<IntentPage> {
  const { state, after, limit } = parseListOptions(options);
  const end = state === 'created' ? await endOfScan(db, after) : undefined;
  const { rows } = await db.query<IntentRow & Cursor>(
    `select ${intentColumns}, i.created_at::text as created from express_intents.intents i
     where ${isAfter} and ($3::text is null or (created_at, id) >= ($3::timestamptz, $4::text)) and ($5::text is null or state = $5)
     order by created_at desc, id desc limit $6::int`,
    [after?.created ?? null, after?.id ?? null, end?.created ?? null, end?.id ?? null, state ?? null, limit + 1],
  );
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : end;
  return { intents: page.map(toLedgerIntent), next: last && formatCursor(last) };
}

/** The last intent to scan. Undefined if fewer are left. */
async function endOfScan(db: Queryable, after: Cursor | undefined): Promise<Cursor | undefined> {
  const { rows } = await db.query<Cursor>(
    `select created_at::text as created, id from express_intents.intents where ${isAfter}
     order by created_at desc, id desc offset $3::int limit 1`,
    [after?.created ?? null, after?.id ?? null, openScanned - 1],
  );
  return rows[0];
}
