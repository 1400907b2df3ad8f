import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../src/ledger/database.js';
import { openTestDatabase, type TestDatabase } from '../support/databases/databases.js';
import { eventually } from '../support/eventually.js';
import { SettlementFixture, type SettlementOptions } from './settlement-fixture.js';

/** Longer than any test. */
const never = { roundMs: 600_000 };

describe('what a process looks at, at once', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase('postgres', { fakeTime: true });
  }, 120_000);
  beforeEach(() => database.db.query('truncate express_intents.intents, express_intents.history'));

  /** A settlement that tells how often it has looked for what is due. */
  function counted(options: SettlementOptions): { ledger: SettlementFixture; claims: () => number } {
    let claims = 0;
    const { db } = database;
    const counting: Database = {
      isShared: true,
      query: (sql, values) => {
        if (sql.includes('first_due')) claims += 1;
        return db.query(sql, values);
      },
      transaction: (work) => db.transaction(work),
      close: async () => undefined,
    };
    return { ledger: new SettlementFixture(database, { ...options, db: counting }), claims: () => claims };
  }

  async function createPaid(ledger: SettlementFixture, count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) ids.push(await ledger.create());
    for (const id of ids) ledger.pay(id);
    await database.advance(5_000);
    return ids;
  }

  it('is looked for once when there was room for all of it', async () => {
    const { ledger, claims } = counted({ timing: never, settings: { looksAtOnce: 6 } });
    const [id = ''] = await createPaid(ledger, 1);
    ledger.settlement.start();
    await eventually(() => ledger.asked.size === 1);
    await wait(100);
    expect((await ledger.find(id)).state).toBe('settled');
    expect(claims()).toBe(1);
    await ledger.settlement.close();
  });

  it('is followed at once by the next where there was not, to the last of them', async () => {
    const { ledger, claims } = counted({ timing: never, settings: { looksAtOnce: 2 } });
    const ids = await createPaid(ledger, 5);
    ledger.settlement.start();
    await eventually(() => ledger.asked.size === ids.length);
    await wait(100);
    expect(claims()).toBeLessThanOrEqual(6);
    await ledger.settlement.close();
  });

  it('may be more than the hooks that it calls, each of which holds a connection', async () => {
    let [running, most, ended] = [0, 0, 0];
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const onPaid = async (): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await gate;
      running -= 1;
      ended += 1;
    };
    const ledger = new SettlementFixture(database, {
      hooks: { onPaid },
      timing: { ...never, hooksAtOnce: 3 },
      settings: { looksAtOnce: 8 },
    });
    await createPaid(ledger, 8);
    await ledger.settlement.round();
    await eventually(() => running === 3);
    expect(ledger.asked.size).toBe(8);
    open();
    await ledger.settlement.idle();
    expect({ most, ended }).toEqual({ most: 3, ended: 8 });
  });

  it('is given back when the ledger is closed before its hook had a turn, which does not count', async () => {
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const ledger = new SettlementFixture(database, {
      hooks: { onPaid: () => gate },
      timing: { ...never, hooksAtOnce: 1, closeMs: 20 },
    });
    const ids = await createPaid(ledger, 2);
    await ledger.settlement.round();
    await ledger.settlement.close();
    open();
    const found = await Promise.all(ids.map((id) => ledger.find(id)));
    expect(found.map(({ state, lastError }) => ({ state, lastError }))).toEqual([
      { state: 'submitted', lastError: undefined },
      { state: 'submitted', lastError: undefined },
    ]);
    expect(found.map(({ attempts }) => attempts)).toEqual([0, 0]);
    const another = new SettlementFixture(database, { sequencer: ledger.sequencer });
    expect(await another.settlement.round()).toBe(2);
    await another.settlement.idle();
  });
});
