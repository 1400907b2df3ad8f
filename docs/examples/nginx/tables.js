import pg from 'pg';

// Creates the tables of the site. Run it once before its processes start. The ledger creates its own tables.
const client = new pg.Client(process.env.INTENT_DATABASE_URL);
await client.connect();
await client.query('create table if not exists orders (id text primary key, article text not null)');
await client.end();
