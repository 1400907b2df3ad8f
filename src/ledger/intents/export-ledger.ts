import { printable } from '../../printable.js';
import type { Database, Queryable } from '../database/database.js';
import { findMissingHooks } from '../settlement/required-hooks.js';

const pageSize = 500;

export const exportName = 'express-intents';

/**
 * Writes a whole ledger as lines of JSON: a header with the recorded hooks, one line for each intent with its history, and a last line with the
 * number of intents, which reveals a truncated file. All lines are from one snapshot, even while the site runs. The
 * file has the content of the database: amounts, metadata and payers. Client secrets are in it only in encrypted form.
 * @param write receives a line without a line end, and resolves when it accepts the next
 * @returns the number of intents
 * @throws {IntentError} `ledger_unavailable` @throws what `write` throws
 */
export function exportLedger(db: Database, write: (line: string) => Promise<void>): Promise<number> {
  return db.transaction(async (tx) => {
    await tx.query('set transaction isolation level repeatable read, read only');
    // The import accepts bytes only in this format.
    await tx.query(`set local bytea_output = 'hex'`);
    const header = {
      ledger: exportName,
      schemaVersion: await schemaVersion(tx),
      hooks: await findMissingHooks(tx, []),
    };
    await write(JSON.stringify(header));
    let count = 0;
    for (let after = ''; ; ) {
      const lines = await readPage(tx, after);
      // Some readers, such as `readline` of Node 24, end a line at a character that JSON does not escape.
      for (const { line } of lines) await write(printable(line));
      count += lines.length;
      const last = lines.at(-1);
      if (!last || lines.length < pageSize) break;
      after = last.id;
    }
    await write(JSON.stringify({ intents: count }));
    return count;
  });
}

/** The version of the tables. It may be newer than this program. */
export async function schemaVersion(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ version: number }>(
    'select max(version)::int as version from express_intents.schema_versions',
  );
  return rows[0]?.version ?? 0;
}

/** The database creates the JSON, because JavaScript types would round numbers and times. */
async function readPage(tx: Queryable, after: string): Promise<readonly { id: string; line: string }[]> {
  const { rows } = await tx.query<{ id: string; line: string }>(
    `select id, jsonb_build_object(
       'intent', to_jsonb(i),
       'payment', (select to_jsonb(p) || '{"leased_until": null, "running_hook": null}'
         from express_intents.payments p where p.intent_id = i.id),
       'login', (select to_jsonb(l) from express_intents.logins l where l.intent_id = i.id),
       'failure', (select to_jsonb(f) from express_intents.failures f where f.intent_id = i.id),
       'history', (select coalesce(jsonb_agg(to_jsonb(h) - 'number' order by h.number), '[]')
         from express_intents.history h where h.intent_id = i.id))::text as line
     from express_intents.intents i where id > $1 order by id limit $2::int`,
    [after, pageSize],
  );
  return rows;
}
