import { createAccount } from './accounts.js';

const tables = [
  'session (sid text primary key, sess json not null, expire timestamp not null)',
  'accounts (id serial primary key, email text unique, password text, admin boolean not null default false)',
  'wallets (id text primary key, account_id integer not null references accounts)',
  `orders (id serial primary key, account_id integer not null references accounts, items text not null,
    total numeric(10, 2) not null, state text not null default 'open', payment text)`, // the id of its payment
  `emails (id serial primary key, address text not null, subject text not null, sent_at timestamptz,
    retry_at timestamptz not null default now())`,
];

export async function createTables(pool) {
  for (const table of tables) await pool.query(`create table if not exists ${table}`);
  // Everyone knows this password.
  if (process.env.NODE_ENV !== 'production') {
    await createAccount(pool, { email: 'ada@example.com', password: 'tea', admin: true });
  }
}
