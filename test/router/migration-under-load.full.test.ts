import { type PostgresServer, startPostgres } from '../support/databases/postgres-server.js';
import { type LedgerSite, startLedgerSite } from '../support/sites/ledger-site.js';
import { payWithKey } from '../support/sites/pay-with-key.js';

describe('a migration that changes the type of columns while customers pay', () => {
  let server: PostgresServer;
  let name: string;
  let site: LedgerSite;

  beforeAll(async () => {
    server = await startPostgres();
    name = await server.createDatabase();
    await server.run(name, 'create table orders (id text)');
    site = await startLedgerSite({
      ledger: { url: server.url(name) },
      limits: { requests: { intent: 100_000, status: 100_000 } },
      onPaid: async ({ id }, { tx }) => void (await tx.query('insert into orders values ($1)', [id])),
    });
  });
  afterAll(() => site.router.close());

  it('fails no request, and each payment has one effect', async () => {
    let isMigrated = false;
    const ids: string[] = [];
    const customer = async (_: unknown, number: number): Promise<void> => {
      // Each customer has prepared statements from before the last change, and uses them after it.
      for (let paid = 0, rest = 3; rest > 0; paid += 1, rest -= isMigrated ? 1 : 0) {
        ids.push(await payWithKey(site, `${number}-${paid}`));
      }
    };
    const migrate = async (): Promise<void> => {
      for (const type of ['varchar(900)', 'text', 'varchar(800)', 'text']) {
        const before = ids.length;
        while (ids.length < before + 12) await new Promise(setImmediate);
        const changes = ['description', 'sealed_secret', 'destination'].map((column) => `alter ${column} type ${type}`);
        await server.run(name, `alter table express_intents.intents ${changes.join(', ')}`);
      }
      isMigrated = true;
    };
    await Promise.all([...Array.from({ length: 6 }).map(customer), migrate()]);
    expect(await server.run(name, 'select id from orders order by id')).toEqual(ids.sort().map((id) => ({ id })));
    expect(site.log.text).toBe('');
  });
});
