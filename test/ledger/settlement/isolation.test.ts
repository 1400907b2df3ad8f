import type { Database } from '../../../src/ledger/database/database.js';
import { completeLoginOnce } from '../../../src/ledger/intents/complete-login.js';
import { openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { ledgerTables } from '../../support/databases/ledger-rows.js';
import { startPostgres } from '../../support/databases/postgres-server.js';
import { eventually } from '../../support/eventually.js';
import { SettlementFixture } from './settlement-fixture.js';

describe.each(['repeatable read', 'serializable'])('in a database whose default isolation level is %s', (level) => {
  let database: TestDatabase;
  let db: Database;
  beforeAll(async () => {
    database = await openTestDatabase('postgres');
    const server = await startPostgres();
    const { rows } = await database.db.query<{ name: string }>('select current_database() as name');
    const name = rows[0]?.name ?? '';
    await server.run(name, `alter database ${name} set default_transaction_isolation = '${level}'`);
    db = await database.reopen();
    await db.query('create table effects (id text)');
  });
  beforeEach(async () => {
    await db.query(`truncate ${ledgerTables}, effects`);
  });

  it('a payment settles although a heartbeat changes its row while its hook runs', async () => {
    const attempts: number[] = [];
    const ledger = new SettlementFixture(database, {
      hooks: {
        onPaid: async ({ id }, { tx, attempt }) => {
          attempts.push(attempt);
          await tx.query('insert into effects values ($1)', [id]);
          // As a heartbeat does, which comes only every ten seconds.
          await db.query(`update express_intents.payments set leased_until = leased_until + interval '1 second'`);
        },
      },
    });
    const id = await ledger.create();
    ledger.pay(id);
    void ledger.settlement.recheck(id);
    await ledger.work();
    expect(await ledger.find(id)).toMatchObject({ state: 'settled', lastError: undefined });
    expect((await db.query('select id from effects')).rows).toEqual([{ id }]);
    expect(attempts).toEqual([1]);
  });

  it('onLogin is called once, although a second process waits for the same login', async () => {
    const id = await new SettlementFixture(database).createLogin();
    const login = { id, browser: new Uint8Array(32).fill(7), ttlMs: 120_000, userId: 'ada', key: 'key' };
    const calls: string[] = [];
    let second: Promise<boolean> | undefined;
    const first = await completeLoginOnce(db, login, async () => {
      calls.push('first');
      second = completeLoginOnce(db, login, async () => void calls.push('second'));
      const waits = `select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
      await eventually('the second waits', async () => (await db.query(waits)).rowCount === 1);
    });
    expect([first, await second, calls]).toEqual([true, false, ['first']]);
  });

  it('a transaction that is not a hook keeps that level', async () => {
    const { rows } = await db.transaction((tx) => tx.query('show transaction_isolation'));
    expect(rows).toEqual([{ transaction_isolation: level }]);
  });
});
