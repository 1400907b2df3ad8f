import pg from 'pg';
import { startPgbouncer } from '../support/databases/pgbouncer.js';
import { type PostgresServer, startPostgres } from '../support/databases/postgres-server.js';
import { startLedgerSite } from '../support/sites/ledger-site.js';
import { payWithKey } from '../support/sites/pay-with-key.js';

// The version of Debian 12 does not translate the names of prepared statements.
describe('pgbouncer in transaction mode', () => {
  let server: PostgresServer;
  let name: string;
  let url: string;

  beforeAll(async () => {
    server = await startPostgres();
    name = await server.createDatabase();
    url = (await startPgbouncer(server))(name);
  });

  it('is used without prepared statements', async () => {
    await server.run(name, 'create table orders (id text primary key)');
    const site = await startLedgerSite({
      ledger: { url },
      limits: { requests: { intent: 100_000, status: 100_000 } },
      onPaid: async ({ id }, { tx }) => void (await tx.query('insert into orders values ($1)', [id])),
    });
    const ids = await Promise.all(Array.from({ length: 40 }, (_, number) => payWithKey(site, `key-${number}`)));
    expect(await server.run(name, 'select id from orders order by id')).toEqual(ids.sort().map((id) => ({ id })));
    expect(site.log.text).not.toMatch(/error/);
    for (let round = 0; round < 4; round += 1) {
      expect((await site.router.database.query('select from pg_prepared_statements')).rowCount).toBe(0);
    }
    await site.router.close();
  });

  it('fails prepared statements, which proves the check', async () => {
    const clients = Array.from({ length: 4 }, () => new pg.Client({ connectionString: url }));
    for (const client of clients) await client.connect();
    const work = async (client: pg.Client): Promise<void> => {
      for (let round = 0; round < 20; round += 1)
        await client.query({ name: 'one', text: 'select $1::int', values: [1] });
    };
    const ended = await Promise.allSettled(clients.map(work));
    for (const client of clients) await client.end();
    const states = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
    expect(['26000', '42P05']).toEqual(expect.arrayContaining(states));
    expect(states).not.toEqual([]);
  });
});
