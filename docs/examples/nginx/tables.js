import pg from 'pg';

// Makes the tables of the site, and is run once before its processes start. The ledger makes its own.
const client = new pg.Client(process.env.INTENT_DATABASE_URL);
await client.connect();
await client.query('create table if not exists orders (id text primary key, article text not null)');
await client.end();
