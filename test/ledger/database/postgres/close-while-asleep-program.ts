import { openPostgres } from '../../../../src/ledger/database/postgres/postgres.js';

// Closes while the server is stopped and a statement with a long timeout runs. The process must then exit.
const [, , url = ''] = process.argv;
const db = await openPostgres({ url, statementMs: 3_600_000, closeMs: 200 });
await Promise.all([db.query('select pg_sleep(0.05)'), db.query('select pg_sleep(0.05)')]);
console.log(JSON.stringify('open'));
process.stdin.once('data', async () => {
  process.stdin.destroy();
  db.query('select 1').catch((error) => console.log(JSON.stringify(error.code)));
  await new Promise((resolve) => setTimeout(resolve, 50));
  await db.close();
});
