import { openPostgres } from '../../../src/ledger/database/postgres/postgres.js';
import { migrate } from '../../../src/ledger/migrations/migrate.js';

// Migrates when it receives input, and reports the migrations that it ran.
const [, , url = ''] = process.argv;
const db = await openPostgres({ url });
await db.query('select 1');
console.log(JSON.stringify('ready'));
process.stdin.once('data', async () => {
  console.log(JSON.stringify((await migrate(db)).map(({ version }) => version)));
  await db.close();
  process.stdin.destroy();
});
