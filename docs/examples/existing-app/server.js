import { once } from 'node:events';
import pg from 'pg';
import { createApp } from './app.js';
import { createTables } from './tables.js';

const { INTENT_DATABASE_URL: url, PORT: port = 3000 } = process.env;
// Without a Postgres server the example keeps its tables in the embedded database of the ledger.
const embeddedPool = { query: (...query) => router.database.query(...query) };
const pool = /^postgres/.test(url) ? new pg.Pool({ connectionString: url }) : embeddedPool;
const { app, router } = createApp({ pool });

async function start() {
  console.log('Opening the database. The first start takes a few seconds.');
  const sequencer = await router.ready();
  await createTables(pool);
  await once(app.listen(port, '127.0.0.1'), 'listening');
  console.log(
    `The shop is at http://localhost:${port}. Log in as ada@example.com with the password "tea". Ctrl+C stops it.`,
  );
  if (sequencer) console.log(`The simulated wallet is at ${sequencer.walletUrl}`);
  setInterval(sendEmails, 1_000);
}

/** The worker of the outbox. A real one sends the emails. */
async function sendEmails() {
  const { rows } = await pool.query(
    'update emails set sent_at = now() where sent_at is null returning address, subject',
  );
  for (const { address, subject } of rows) console.log(`Email to ${address}: ${subject}`);
}

start().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
