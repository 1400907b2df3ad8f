import { IntentError } from '../../errors.js';
import type { Database, Queryable } from '../database/database.js';
import { exportName, tablesVersion } from './export-ledger.js';
import { soundLines } from './imported-line.js';

/** How many lines are written at once. */
const batch = 200;

/**
 * Takes the lines of `exportLedger` into a ledger, all of them or none. What was due there is due here. The tables may be
 * newer than those of the file: what came since has its default.
 * @returns how many intents there were
 * @throws {IntentError} `invalid_request` for what is no whole export, is of newer tables, or has an intent that is there
 * already; `ledger_unavailable`
 */
export function importLedger(db: Database, lines: AsyncIterable<string> | Iterable<string>): Promise<number> {
  return db.transaction(async (tx) => {
    const requireSound = await soundLines();
    let number = 0;
    let count: number | undefined;
    let isFirst = true;
    let waiting: string[] = [];
    let taken = 0;
    const tables = await tablesVersion(tx);
    for await (const line of lines) {
      number += 1;
      if (count !== undefined && line.trim() !== '') throw notAnExport('There is more behind its last line.');
      if (isFirst) requireHeader(line, tables);
      else if (line.startsWith('{"intents":')) count = Number(parse(line).intents);
      else if (line.trim() !== '') {
        requireSound(line, number);
        waiting.push(line);
      }
      isFirst = false;
      if (waiting.length < batch) continue;
      taken += await takeIn(tx, waiting);
      waiting = [];
    }
    taken += await takeIn(tx, waiting);
    if (count !== taken) throw notAnExport('It was cut off: its last line, which says how many there are, is missing.');
    return taken;
  });
}

function requireHeader(line: string, ofHere: number): void {
  const { ledger, tables } = parse(line);
  if (ledger !== exportName) throw notAnExport('Its first line does not say so.');
  if (typeof tables === 'number' && tables <= ofHere) return;
  throw notAnExport(
    `It was made of tables of version ${tables}, and these are of version ${ofHere}: run \`npx express-intents migrate\` of the ` +
      'version of express-intents that has made it.',
  );
}

function parse(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw notAnExport(`This is no line of one: ${line.slice(0, 60)}`);
}

const notAnExport = (why: string): IntentError =>
  new IntentError('invalid_request', `This is no export of a ledger. ${why} Nothing was imported.`);

async function takeIn(tx: Queryable, lines: readonly string[]): Promise<number> {
  if (lines.length === 0) return 0;
  try {
    const names = await columnsIn(tx, lines[0]);
    const { rowCount } = await tx.query(
      `insert into express_intents.intents (${names.join()})
       select ${names.map((name) => `row.${name}`).join()} from unnest($1::text[]) line,
         jsonb_populate_record(null::express_intents.intents, line::jsonb -> 'intent') row`,
      [lines],
    );
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
    return rowCount;
  } catch (error) {
    throw explained(error);
  }
}

/** Those that both the tables and the file have. */
async function columnsIn(tx: Queryable, line: string | undefined): Promise<readonly string[]> {
  const { rows } = await tx.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_catalog.pg_attribute
     where attrelid = 'express_intents.intents'::regclass and attnum > 0 and not attisdropped
       and ($1::jsonb -> 'intent') ? attname::text`,
    [line],
  );
  if (rows.length === 0) throw notAnExport('A line of it has no intent.');
  return rows.map(({ name }) => name);
}

/** SQLSTATE 23505 is a row that is there already; other data exceptions (22...), violations (23...) and excesses (54...) are of the file. */
function explained(error: unknown): unknown {
  const { code, message, detail } = error as { code?: unknown; message?: string; detail?: string };
  if (typeof code !== 'string' || !/^(?:2[23]|54)/.test(code)) return error;
  const why = code === '23505' ? `An intent of it is here already (${detail}).` : `${message}.`;
  return new IntentError('invalid_request', `${why} Nothing was imported.`, { cause: error });
}
