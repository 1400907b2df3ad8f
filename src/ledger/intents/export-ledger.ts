import type { Database, Queryable } from '../database/database.js';

/** How many intents are read at once. */
const page = 500;

/** What the first line of an export says that it is; beside it stands of which tables. */
export const exportName = 'express-intents';

/**
 * Writes a whole ledger as lines of JSON: a header, one line for each intent with all that is known of it, and a last line
 * that says how many there were, so that a file that was cut off is known. All of one moment, also while a site runs.
 * Whoever has the file has what the database has: amounts, metadata and who has paid; no client secret that could be opened.
 * @param write takes a line, without its end, and resolves when it may be followed by the next
 * @returns how many intents there were
 * @throws {IntentError} `ledger_unavailable` @throws what `write` throws
 */
export function exportLedger(db: Database, write: (line: string) => Promise<void>): Promise<number> {
  return db.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    await write(JSON.stringify({ ledger: exportName, tables: await tablesVersion(tx) }));
    let count = 0;
    for (let after = ''; ; ) {
      const lines = await readPage(tx, after);
      for (const { line } of lines) await write(escaped(line));
      count += lines.length;
      const last = lines.at(-1);
      if (!last || lines.length < page) break;
      after = last.id;
    }
    await write(JSON.stringify({ intents: count }));
    return count;
  });
}

/** The version of the tables that are there, which may be newer than this program. */
export async function tablesVersion(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ tables: number }>(
    'select max(version)::int as tables from express_intents.schema_versions',
  );
  return rows[0]?.tables ?? 0;
}

/**
 * Characters that a terminal obeys instead of showing, and those that many a reader, such as that of Node 24, takes for the
 * end of a line. JSON has another form for them, which is read as the same text.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const escaped = (line: string): string => line.replace(unprintable, (text) => text.split('').map(codeOf).join(''));

const codeOf = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** The database writes the JSON, so that no number and no time passes through a type of JavaScript. */
async function readPage(tx: Queryable, after: string): Promise<readonly { id: string; line: string }[]> {
  const { rows } = await tx.query<{ id: string; line: string }>(
    `select id, jsonb_build_object(
       'intent', to_jsonb(i) || '{"leased_until": null, "hook_run": null}',
       'history', (select coalesce(jsonb_agg(to_jsonb(h) - 'number' - 'intent_id' order by h.number), '[]')
         from express_intents.history h where h.intent_id = i.id))::text as line
     from express_intents.intents i where id > $1 order by id limit $2::int`,
    [after, page],
  );
  return rows;
}
