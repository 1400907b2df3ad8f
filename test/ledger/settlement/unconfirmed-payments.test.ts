import type { Database } from '../../../src/ledger/database/database.js';
import { confirmIntent, reserveIntents } from '../../../src/ledger/intents/record-intent.js';
import { defaultTiming } from '../../../src/ledger/settlement/settlement-timing.js';
import { kinds, openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { dayMs, SettlementFixture } from './settlement-fixture.js';

// Rechecks of payments in the state `creating`: a request creates them just now, or a restored database lost their confirmation.

describe.each(kinds)('in %s', (kind) => {
  let database: TestDatabase;
  let db: Database;
  beforeAll(async () => {
    database = await openTestDatabase(kind);
    db = database.db;
  });
  beforeEach(async () => {
    await db.query('delete from express_intents.intents');
  });

  const createUnconfirmed = async (ledger: SettlementFixture): Promise<string> => {
    const id = 'x'.repeat(43);
    const destination = 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR';
    const money = { amount: '4.50', currency: 'usd', destination };
    const terms = { ...money, description: undefined, login: false, resource: undefined, metadata: {} };
    const idempotency = { key: 'tea', fingerprint: new Uint8Array(32), sealedSecret: 'sealed' };
    await reserveIntents(db, [{ intent: { id, terms, browser: new Uint8Array(32).fill(7) }, idempotency }]);
    ledger.setStatus(id, { exists: true, intentSubmitted: false });
    return id;
  };

  it('a paid one settles, by one status call', async () => {
    const paid: string[] = [];
    const ledger = new SettlementFixture(database, { hooks: { onPaid: ({ id }) => void paid.push(id) } });
    const id = await createUnconfirmed(ledger);
    ledger.pay(id);
    void ledger.settlement.recheck(id);
    await ledger.work();
    expect(await ledger.find(id)).toMatchObject({ state: 'settled' });
    expect([paid, ledger.statusCalls.get(id)]).toEqual([[id], 1]);
  });

  it('an unpaid one remains, and is not polled', async () => {
    const ledger = new SettlementFixture(database);
    const id = await createUnconfirmed(ledger);
    void ledger.settlement.recheck(id);
    await ledger.work();
    expect(await ledger.find(id)).toMatchObject({ state: 'creating', dueAt: undefined });
    expect(ledger.statusCalls.get(id)).toBe(1);
  });

  it('an unpaid one that its request confirms meanwhile is released, and polled as planned', async () => {
    let [id, isConfirmed] = ['', false];
    const confirming: Database = {
      isShared: db.isShared,
      query: async (sql, values) => {
        if (sql.includes('set due_at = null') && !isConfirmed) {
          isConfirmed = true;
          await confirmIntent(db, id, { watchFirstMs: defaultTiming.watchFirstMs, watchMs: dayMs });
        }
        return db.query(sql, values);
      },
      transaction: (work, options) => db.transaction(work, options),
      close: async () => undefined,
    };
    const ledger = new SettlementFixture(database, { db: confirming });
    id = await createUnconfirmed(ledger);
    void ledger.settlement.recheck(id);
    await ledger.work();
    expect(await ledger.find(id)).toMatchObject({ state: 'created', dueAt: expect.any(Date) });
    const { rows } = await db.query('select leased_until from express_intents.intents where id = $1', [id]);
    expect([isConfirmed, rows]).toEqual([true, [{ leased_until: null }]]);
  });
});
