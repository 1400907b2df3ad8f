import { readFileSync } from 'node:fs';
import type { Database } from '../../../../src/ledger/database/database.js';
import { openPostgres } from '../../../../src/ledger/database/postgres/postgres.js';
import { IntentRecorder } from '../../../../src/ledger/intents/intent-recorder.js';
import { listIntents } from '../../../../src/ledger/intents/list-intents.js';
import { pruneIntents } from '../../../../src/ledger/intents/prune-intents.js';
import { migrate, requireMigrated } from '../../../../src/ledger/migrations/migrate.js';
import { insertLogins } from '../../../support/databases/ledger-rows.js';
import { startPostgres } from '../../../support/databases/postgres-server.js';

// Runs the SQL of docs/ledger.md that prepares the role of a site.

const docs = readFileSync(new URL('../../../../docs/ledger.md', import.meta.url), 'utf8');
const [forTheSite = '', forTables = ''] = [...docs.matchAll(/```sql plain\n([\s\S]*?)```/g)].map(([, sql]) => sql);
const times = { watchFirstMs: 1_000, watchMs: 1_000 };
let started = 0;

/** All calls that a site and its operator make. */
async function everything(db: Database): Promise<void> {
  started += 1;
  const id = `intent${started}`;
  const idempotency = { key: id, fingerprint: Buffer.alloc(32), sealedSecret: 'sealed' };
  await requireMigrated(db);
  const recorder = new IntentRecorder(db, times);
  await recorder.reserve({ intent: { id, terms: undefined, browser: Buffer.alloc(32) }, idempotency });
  await recorder.confirm(id);
  expect((await listIntents(db, {})).intents).not.toHaveLength(0);
  await db.query(insertLogins(`select 'old ${id}' as id`, `interval '9 days'`));
  await pruneIntents(db, { olderThan: new Date(Date.now() - 2 * 24 * 3_600_000) });
}

async function asShop(prepare: (run: (sql: string) => Promise<unknown>, admin: Database) => Promise<void>) {
  const server = await startPostgres();
  const name = await server.createDatabase();
  const run = (sql: string) => server.run(name, sql);
  const admin = await openPostgres({ url: server.url(name) });
  await run(`drop role if exists shop; create role shop login`);
  await prepare(run, admin);
  await admin.close();
  const db = await openPostgres({ url: server.url(name).replace('postgres@', 'shop@') });
  const close = async (): Promise<void> => {
    await db.close();
    await run('drop owned by shop');
  };
  return { db, run, close };
}

test('a role that owns a schema creates the tables', async () => {
  const { db, close } = await asShop((run) => run(forTables).then(() => undefined));
  await migrate(db);
  await everything(db);
  await close();
});

test('a role that does not own the tables needs each of the documented grants, and no other', async () => {
  const { db, run, close } = await asShop(async (admin, database) => {
    await migrate(database);
    await admin(forTheSite);
  });
  await everything(db);
  const tables = 'all tables in schema express_intents';
  for (const right of ['select', 'insert', 'update', 'delete']) {
    await run(`revoke ${right} on ${tables} from shop`);
    const refused = { message: expect.stringContaining('permission denied') };
    await expect(everything(db)).rejects.toMatchObject(refused);
    await run(`grant ${right} on ${tables} to shop`);
  }
  await run('revoke usage on schema express_intents from shop');
  await expect(everything(db)).rejects.toMatchObject({ code: 'invalid_configuration' });
  await run('grant usage on schema express_intents to shop');
  await everything(db);
  // Default privileges also grant the tables of later versions to the site.
  await run('create table express_intents.later (id text)');
  await db.query(`insert into express_intents.later values ('a')`);
  await close();
});
