import { once } from 'node:events';
import pg from 'pg';
import { createApp } from './app.js';
import { createTables } from './tables.js';

const { INTENT_DATABASE_URL: url, PORT: port = 3000 } = process.env;
// Without a Postgres server the example keeps its tables in the embedded database of the ledger.
const embeddedPool = { query: (...query) => router.database.query(...query) };
const pool = /^postgres/.test(url) ? createPool() : embeddedPool;
const { app, router } = createApp({ pool });

/** A pool that survives an outage of the database: see docs/outages.md. */
function createPool() {
  const created = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 2_000 });
  // Without a listener, a broken idle connection ends the process.
  created.on('error', () => undefined);
  return created;
}

async function start() {
  console.log('Opening the database. The first start takes a few seconds.');
  const simulator = await router.ready();
  await createTables(pool);
  await once(app.listen(port, '127.0.0.1'), 'listening');
  console.log(
    `The shop is at http://localhost:${port}. Log in as ada@example.com with the password "tea". Ctrl+C stops it.`,
  );
  if (simulator) console.log(`The simulated wallet is at ${simulator.walletUrl}`);
  // An unhandled rejection ends the process. The error of a refused connection may have no message.
  setInterval(
    () => sendEmails().catch(({ message, code }) => console.error('Emails are not sent:', message || code)),
    1_000,
  );
}

/** Replaces your email service in this example. */
const send = async ({ address, subject }) => console.log(`Email to ${address}: ${subject}`);

// Claims an email for a minute.
const claim = `update emails set retry_at = now() + interval '1 minute' where id = (select id from emails
  where sent_at is null and retry_at <= now() order by retry_at limit 1 for update skip locked) returning *`;

/** The worker of the outbox. A failed send is repeated after a minute, so each email is sent at least once. */
async function sendEmails() {
  for (;;) {
    const [email] = (await pool.query(claim)).rows;
    if (!email) return;
    await send(email);
    await pool.query('update emails set sent_at = now() where id = $1', [email.id]);
  }
}

start().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
