import type { Database, Queryable } from './database.js';
import { migrations } from './migrate.js';

/** How many intents are read at once. */
const page = 500;

/** What the first line of an export says: what it is, and of which tables. */
export const exportHeader = { ledger: 'express-intents', tables: migrations.length } as const;

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
    await write(JSON.stringify(exportHeader));
    let count = 0;
    for (let after = ''; ; ) {
      const lines = await readPage(tx, after);
      for (const { line } of lines) await write(line);
      count += lines.length;
      const last = lines.at(-1);
      if (!last || lines.length < page) break;
      after = last.id;
    }
    await write(JSON.stringify({ intents: count }));
    return count;
  });
}

/** The database writes the JSON, so that no number and no time passes through a type of JavaScript. */
async function readPage(tx: Queryable, after: string): Promise<readonly { id: string; line: string }[]> {
  const { rows } = await tx.query<{ id: string; line: string }>(
    `select id, jsonb_build_object(
       'intent', to_jsonb(i) || '{"leased_until": null}',
       'history', (select coalesce(jsonb_agg(to_jsonb(h) - 'number' - 'intent_id' order by h.number), '[]')
         from express_intents.history h where h.intent_id = i.id))::text as line
     from express_intents.intents i where id > $1 order by id limit $2::int`,
    [after, page],
  );
  return rows;
}
