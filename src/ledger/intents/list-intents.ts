import { IntentError, messageOf } from '../../errors.js';
import { requireKnown } from '../../reject-unknown.js';
import type { Queryable } from '../database/database.js';
import { type IntentPage, type IntentState, intentStates, type ListOptions } from '../ledger.js';
import { isStorable, toJsonClone } from '../to-json-clone.js';
import { exactText, type IntentRow, intentColumns, tablesFrom, toLedgerIntent } from './intent-row.js';

/** The last intent of a page: the next page begins after it. */
interface Cursor {
  /** The time as the database prints it, because a Date has no microseconds. */
  readonly created: string;
  readonly id: string;
}

/** The options of `list`, as the statements use them. */
export interface ListFilters {
  readonly kind: ListOptions['kind'];
  readonly state: IntentState | undefined;
  readonly userId: string | undefined;
  /** JSON text of an object. */
  readonly metadata: string | undefined;
  /** Milliseconds since 1970, like `createdBefore`. */
  readonly createdFrom: number | undefined;
  readonly createdBefore: number | undefined;
  readonly after: Cursor | undefined;
  readonly limit: number;
}

const filterNames = ['kind', 'state', 'userId', 'metadata', 'createdFrom', 'createdBefore'] as const;
const optionNames = [...filterNames, 'after', 'limit'];

export function parseListOptions(options: ListOptions): ListFilters {
  requireKnown('router.intents.list', options, optionNames);
  const missing = filterNames.find((name) => name in options && options[name] === undefined);
  if (missing) throw undefinedFilter(`\`${missing}\``);
  const { kind, state, userId, metadata, createdFrom, createdBefore, after, limit = 50 } = options;
  if (kind !== undefined && kind !== 'payment' && kind !== 'login') {
    throw invalid('The kind must be payment or login.');
  }
  if (state !== undefined && !intentStates.includes(state)) {
    throw invalid(`The state must be one of ${intentStates.join(', ')}.`);
  }
  if (userId !== undefined && !(typeof userId === 'string' && userId.length <= 100 && isStorable(userId))) {
    throw invalid('`userId` (--user) must be a user id, such as `intent.userId`.');
  }
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000) {
    throw invalid('The limit must be a whole number from 1 to 1000.');
  }
  return {
    kind,
    state,
    userId,
    metadata: metadata === undefined ? undefined : parseMetadata(metadata),
    createdFrom: parseDate('createdFrom', createdFrom),
    createdBefore: parseDate('createdBefore', createdBefore),
    after: after === undefined ? undefined : parseCursor(after),
    limit,
  };
}

/** The limit for the metadata of a payment, in characters instead of bytes. */
const maxMetadataLength = 16 * 1024;

function parseMetadata(metadata: unknown): string {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) {
    throw invalid('`metadata` must be an object, such as { order: 42 }.');
  }
  const text = JSON.stringify(cloneOf(metadata));
  if (hasUndefined(metadata)) throw undefinedFilter('A member of `metadata`');
  if (text === '{}') throw invalid('`metadata` has no members. Omit it to list all intents.');
  if (text.length > maxMetadataLength)
    throw invalid('`metadata` has more than 16384 characters as JSON. Use fewer members.');
  return text;
}

/** The clone omits undefined members. The filter would then match more, such as the payments of all accounts. */
function hasUndefined(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === undefined;
  return Object.values(value).some(hasUndefined);
}

function cloneOf(metadata: object): unknown {
  try {
    return toJsonClone(metadata, 'metadata');
  } catch (error) {
    throw invalid(messageOf(error));
  }
}

function parseDate(name: string, date: unknown): number | undefined {
  if (date === undefined) return undefined;
  if (!(date instanceof Date) || Number.isNaN(date.getTime())) throw invalid(`\`${name}\` must be a valid Date.`);
  // Postgres cannot represent every Date. No intent is older than 1970.
  return Math.max(date.getTime(), 0);
}

const timestamp = /^(?!0000)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-](?:0\d|1[0-5])(?::[0-5]\d)*$/;

/** Whether Postgres can read it. A site may pass a cursor from the URL of a request. */
function isTimestamp(text: string): boolean {
  const seconds = text.slice(0, 19).replace(' ', 'T');
  const date = new Date(`${seconds}Z`);
  return timestamp.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(seconds);
}

function parseCursor(text: string): Cursor {
  const [created = '', id = ''] = Buffer.from(String(text), 'base64url').toString().split('|');
  if (isTimestamp(created) && /^\w{32,44}$/.test(id)) return { created, id };
  throw invalid('`after` (--after) must be the `next` of a previous page.');
}

function formatCursor({ created, id }: Cursor): string {
  return Buffer.from(`${created}|${id}`).toString('base64url');
}

/** A value is probably missing. Without the filter, the list could have the intents of everyone. */
function undefinedFilter(what: string): IntentError {
  return invalid(`${what} is undefined. Set a value, or omit it to list more intents.`);
}

function invalid(message: string): IntentError {
  return new IntentError('invalid_request', message);
}

/** SQL with `?` for its values, in order. */
type Condition = readonly [text: string, ...values: readonly unknown[]];

/** The text of each group of conditions, with numbered parameters, and the values of all. */
function where(...groups: readonly (readonly Condition[])[]): readonly [texts: string[], values: unknown[]] {
  let number = 0;
  const texts = groups.map((conditions) =>
    conditions.map(([text]) => text.replaceAll('?', () => `$${++number}`)).join(' and '),
  );
  return [texts.map((text) => text || 'true'), groups.flat().flatMap(([, ...values]) => values)];
}

/** The states that operators look for have an index. The others change too often, or are those of most intents. */
const listedStates: readonly (IntentState | undefined)[] = ['reversed', 'expired', 'dead'];

/** How a list finds its intents: by the index of one table, which has their ids and times of creation. */
interface Search {
  readonly table: 'intents i' | 'payments p' | 'logins l';
  readonly time: string;
  readonly id: string;
  /** The conditions that the index serves. */
  readonly indexed: readonly Condition[];
  /** They filter the rows that the index returns. */
  readonly others: readonly Condition[];
  /** Whether `others` filter at most {@link scannedPerPage} rows. Otherwise Postgres may use the index of the metadata instead. */
  readonly isBounded: boolean;
}

function searchFor({ kind, state, userId, metadata, createdFrom, createdBefore, after }: ListFilters): Search {
  const isListed = userId === undefined && metadata === undefined && listedStates.includes(state);
  const table = userId !== undefined ? 'logins l' : isListed ? 'payments p' : 'intents i';
  const [time, id] =
    table === 'intents i' ? ['i.created_at', 'i.id'] : [`${table.at(-1)}.created_at`, `${table.at(-1)}.intent_id`];
  const indexed: Condition[] = [];
  const others: Condition[] = [];
  if (userId !== undefined) indexed.push(['l.user_id = ?', userId]);
  if (createdFrom !== undefined) indexed.push([`${time} >= to_timestamp(?::float8 / 1000)`, createdFrom]);
  if (createdBefore !== undefined) indexed.push([`${time} < to_timestamp(?::float8 / 1000)`, createdBefore]);
  if (after) indexed.push([`(${time}, ${id}) < (?::timestamptz, ?::text)`, after.created, after.id]);
  if (isListed) indexed.push(['p.listed = ?', state]);
  else if (state !== undefined) others.push(['coalesce(p.state, l.state) = ?', state]);
  if (kind !== undefined) others.push(['i.kind = ?', kind]);
  if (metadata !== undefined) others.push([`i.metadata <> '{}' and i.metadata @> ?::jsonb`, metadata]);
  return { table, time, id, indexed, others, isBounded: metadata === undefined || table !== 'intents i' };
}

/** Without this, a page would scan for intents that cannot exist. */
function isContradiction({ kind, state, metadata }: ListFilters): boolean {
  if (kind === 'payment') return state === 'completed';
  const isStateOfLogins = state === undefined || state === 'creating' || state === 'created' || state === 'completed';
  return kind === 'login' && (!isStateOfLogins || metadata !== undefined);
}

/** Newest first; equal times are ordered by id. @throws {IntentError} `invalid_request` */
export async function listIntents(db: Queryable, options: ListOptions): Promise<IntentPage> {
  const filters = parseListOptions(options);
  if (isContradiction(filters)) return { intents: [], next: undefined };
  const search = searchFor(filters);
  const { time, id, indexed, others } = search;
  const end = search.isBounded && others.length > 0 ? await endOfScan(db, search) : undefined;
  const scanned: Condition[] = end ? [[`(${time}, ${id}) >= (?::timestamptz, ?::text)`, end.created, end.id]] : [];
  const { limit } = filters;
  const inOrder = `order by ${time} desc, ${id} desc`;
  const [found, values] = where([...indexed, ...scanned], others);
  // Postgres cannot estimate how many rows the other tables leave. With a limit of its own, the index is read in its order.
  const first = search.isBounded
    ? `(select * from express_intents.${search.table} where ${found[0]} ${inOrder} limit ${scannedPerPage}) ${search.table.at(-1)}`
    : search.table;
  const { rows } = await db.query<IntentRow & Cursor>(
    `select ${intentColumns}, ${exactText(time)} as created from ${tablesFrom(first)}
     where ${search.isBounded ? found[1] : found.join(' and ')} ${inOrder} limit $${values.length + 1}::int`,
    [...values, limit + 1],
  );
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : end;
  return { intents: page.map(toLedgerIntent), next: last && formatCursor(last) };
}

/** Filters without an index read at most this many intents for a page, which may then have fewer than its limit. */
export const scannedPerPage = 2_000;

/** The last intent to scan. Undefined if fewer are left. */
async function endOfScan(db: Queryable, { table, time, id, indexed }: Search): Promise<Cursor | undefined> {
  const [[text], values] = where(indexed);
  const { rows } = await db.query<Cursor>(
    `select ${exactText(time)} as created, ${id} as id from express_intents.${table} where ${text}
     order by ${time} desc, ${id} desc offset ${scannedPerPage - 1} limit 1`,
    values,
  );
  return rows[0];
}
