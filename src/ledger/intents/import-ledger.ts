import * as z from 'zod';
import { IntentError } from '../../errors.js';
import type { Database, Queryable } from '../database/database.js';
import { intentStates } from '../ledger.js';
import { lanes } from '../settlement/hook-lanes.js';
import { type RequiredHook, recordHooks, requiredHooks } from '../settlement/required-hooks.js';
import { exportName, schemaVersion } from './export-ledger.js';

const batchSize = 200;

/**
 * Imports the lines of `exportLedger`, all or none. Due payments stay due. The tables may be newer than the file:
 * columns added since then get their default.
 * @returns the number of intents
 * @throws {IntentError} `invalid_request` for a file that is not a complete export, comes from newer tables, or has an intent
 * that exists already; `ledger_unavailable`
 */
export function importLedger(db: Database, lines: AsyncIterable<string> | Iterable<string>): Promise<number> {
  return db.transaction(async (tx) => {
    const requireValid = lineCheck();
    let number = 0;
    let count: number | undefined;
    let isFirst = true;
    let waiting: string[] = [];
    let imported = 0;
    let hooks: readonly RequiredHook[] = [];
    const current = await schemaVersion(tx);
    for await (const line of lines) {
      number += 1;
      if (count !== undefined && line.trim() !== '')
        throw notAnExport('It has lines after the closing line `{"intents": …}`.');
      if (isFirst) hooks = readHeader(line, current);
      else if (line.startsWith('{"intents":')) count = Number(parseObject(line).intents);
      else if (line.trim() !== '') {
        requireValid(line, number);
        waiting.push(line);
      }
      isFirst = false;
      if (waiting.length < batchSize) continue;
      imported += await insertLines(tx, waiting);
      waiting = [];
    }
    imported += await insertLines(tx, waiting);
    if (count !== imported)
      throw notAnExport('It is truncated: the closing line `{"intents": …}` is missing, or its number is wrong.');
    // Last: a process that records its own hooks waits until this transaction ends.
    await recordHooks(tx, hooks);
    return imported;
  });
}

/** @returns the hooks of the site: a process that lacks one must not settle the payments. Earlier exports do not have them */
function readHeader(line: string, current: number): readonly RequiredHook[] {
  const { ledger, schemaVersion, hooks } = parseObject(line);
  if (ledger !== exportName || typeof schemaVersion !== 'number')
    throw notAnExport('Its first line is not the header.');
  if (schemaVersion <= current) return requiredHooks.filter((name) => Array.isArray(hooks) && hooks.includes(name));
  throw new IntentError(
    'invalid_request',
    `The file is from a ledger with migration ${schemaVersion}. The newest migration of this ledger is ${current}. Install the ` +
      'version of express-intents that exported the file, then run `npx express-intents migrate`. Nothing was imported.',
  );
}

function parseObject(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw notAnExport(`It has an invalid line: ${line.slice(0, 60)}`);
}

const notAnExport = (why: string): IntentError =>
  new IntentError(
    'invalid_request',
    `The file is not a complete export of a ledger. ${why} Nothing was imported. Export the ledger again.`,
  );

/** The values that readers of the tables rely on. The database would accept more, such as `NaN` and `infinity`. */
function lineSchema() {
  const hasCents = (amount: number): boolean => /^\d+(?:\.\d\d?)?$/.test(String(amount));
  const amount = z.number().positive().refine(hasCents, 'more than two decimal places');
  const bytes = z.string().regex(/^\\x(?:[\da-f]{2})*$/);
  const time = z.iso.datetime({ offset: true });
  const state = z.enum(intentStates);
  const count = z.int().nonnegative();
  const text = z.string().nullish();
  const intent = z.looseObject({
    id: z.string().min(1),
    kind: z.enum(['payment', 'login']),
    amount: amount.nullish(),
    currency: text,
    exchange_rate: z.number().positive().nullish(),
    quarks: z.number().positive().nullish(),
    destination: text,
    description: text,
    login: z.boolean(),
    resource: text,
    metadata: z.record(z.string(), z.unknown()),
    browser: bytes.nullish(),
    idempotency_key: text,
    fingerprint: bytes.nullish(),
    sealed_secret: text,
    created_at: time,
  });
  const payment = z.looseObject({
    state,
    created_at: time,
    submitted_at: time.nullish(),
    settled_at: time.nullish(),
    reversed_at: time.nullish(),
    due_at: time.nullish(),
    due_set_at: time,
    watch_until: time.nullish(),
    reversal_suspected_at: time.nullish(),
    lease_token: count,
    attempts: count,
    timeouts: count,
    lane: z.enum(lanes),
    browser: bytes.nullish(),
    resource: text,
  });
  const login = z.looseObject({ state, created_at: time, completed_at: time.nullish(), user_id: text });
  const failure = z.looseObject({ error: z.string(), hook: text });
  const change = z.looseObject({ at: time, from_state: state, to_state: state, attempts: count });
  return z.looseObject({
    intent,
    payment: payment.nullable(),
    login: login.nullable(),
    failure: failure.nullable(),
    history: z.array(change),
  });
}

/** The check throws `invalid_request` with the number of the line and the field. */
function lineCheck(): (line: string, number: number) => void {
  const schema = lineSchema();
  return (line, number) => {
    const [issue] = schema.safeParse(parseLine(line, number)).error?.issues ?? [];
    if (issue) throw invalidLine(number, `${issue.path.join('.')}: ${issue.message}`);
  };
}

function parseLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw invalidLine(number, `it is not JSON: ${line.slice(0, 60)}`);
  }
}

const invalidLine = (number: number, why: string): IntentError =>
  new IntentError(
    'invalid_request',
    `Line ${number} is not valid output of \`ledger export\`: ${why}. Nothing was imported. Export the ledger again.`,
  );

/** The tables of an intent, and the member of a line that has its row. */
const tables = { intents: 'intent', payments: 'payment', logins: 'login', failures: 'failure' } as const;

async function insertLines(tx: Queryable, lines: readonly string[]): Promise<number> {
  if (lines.length === 0) return 0;
  try {
    for (const [table, member] of Object.entries(tables)) {
      const columns = await sharedColumns(tx, table, member, lines);
      if (columns.length === 0) continue;
      await tx.query(
        `insert into express_intents.${table} (${columns.join()})
         select ${columns.map((name) => `row.${name}`).join()} from unnest($1::text[]) line,
           jsonb_populate_record(null::express_intents.${table}, line::jsonb -> '${member}') row
         where line::jsonb -> '${member}' <> 'null'`,
        [lines],
      );
    }
    await tx.query(
      `insert into express_intents.history (intent_id, at, from_state, to_state, attempts)
       select line::jsonb -> 'intent' ->> 'id', change.at, change.from_state, change.to_state, change.attempts
       from unnest($1::text[]) with ordinality lines (line, place),
         rows from (jsonb_to_recordset(line::jsonb -> 'history')
           as (at timestamptz, from_state text, to_state text, attempts integer)) with ordinality
           as change (at, from_state, to_state, attempts, turn)
       order by lines.place, change.turn`,
      [lines],
    );
    return lines.length;
  } catch (error) {
    throw explainInsert(error);
  }
}

/** The columns that both the table and a row of these lines have. The database computes the others. */
async function sharedColumns(
  tx: Queryable,
  table: string,
  member: string,
  lines: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await tx.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_catalog.pg_attribute
     where attrelid = $1::text::regclass and attnum > 0 and not attisdropped and attgenerated = ''
       and attname in (select jsonb_object_keys(line::jsonb -> $2) from unnest($3::text[]) line
         where jsonb_typeof(line::jsonb -> $2) = 'object')`,
    [`express_intents.${table}`, member, lines],
  );
  return rows.map(({ name }) => name);
}

/** SQLSTATE 23505 is an existing row. Other errors of classes 22, 23 and 54 are caused by the file. */
function explainInsert(error: unknown): unknown {
  const { code, message, detail } = error as { code?: unknown; message?: string; detail?: string };
  if (typeof code !== 'string' || !/^(?:2[23]|54)/.test(code)) return error;
  const why =
    code === '23505'
      ? `An intent in the file already exists, in the ledger or earlier in the file (${detail}). Import into an empty ledger.`
      : `The database rejects an intent in the file: ${message}. Export the ledger again.`;
  return new IntentError('invalid_request', `${why} Nothing was imported.`, { cause: error });
}
