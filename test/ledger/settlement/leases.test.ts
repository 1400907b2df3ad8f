import { setTimeout as delay } from 'node:timers/promises';
import { IntentError } from '../../../src/errors.js';
import type { Database } from '../../../src/ledger/database/database.js';
import type { Payment, PaymentHookContext } from '../../../src/ledger/payment.js';
import { kinds, openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { eventually } from '../../support/eventually.js';
import { statementName } from '../proof/statement-name.js';
import { SettlementFixture, type SettlementOptions, useDatabase } from './settlement-fixture.js';

/** Blocks callers of `pass` until the test opens it. */
class Gate {
  #arrive: () => void = () => undefined;
  /** Resolves when the first caller has arrived. */
  readonly reached = new Promise<void>((resolve) => {
    this.#arrive = resolve;
  });
  open: () => void = () => undefined;
  readonly #opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });

  pass(): Promise<void> {
    this.#arrive();
    return this.#opened;
  }
}

const effectsOf = async ({ db }: TestDatabase): Promise<string[]> =>
  (await db.query<{ id: string }>('select id from effects')).rows.map(({ id }) => id);

const writeEffect = async ({ id }: Payment, { tx }: PaymentHookContext): Promise<void> => {
  await tx.query('insert into effects values ($1)', [id]);
};

async function openLedger(kind: (typeof kinds)[number], fakeTime: boolean): Promise<TestDatabase> {
  const database = await openTestDatabase(kind, { fakeTime });
  await database.db.query('create table effects (id text)');
  return database;
}

/** A second process on the same database and sequencer. */
function secondProcess(first: SettlementFixture, options?: SettlementOptions): SettlementFixture {
  return new SettlementFixture(first.database, { ...options, sequencer: first.sequencer });
}

describe.each(kinds)('a lease on %s', (kind) => {
  const database = useDatabase(kind);

  it('keeps other processes away until it ends', async () => {
    const gate = new Gate();
    const slow = new SettlementFixture(database, {
      hooks: { verifyPayment: () => gate.pass().then(() => true), onPaid: writeEffect },
    });
    const other = secondProcess(slow, { hooks: { onPaid: writeEffect } });
    const id = await slow.begin();
    await gate.reached;
    await database.advance(29_000);
    expect(await other.settlement.round()).toBe(0);
    await database.advance(2_000);
    await other.work();
    expect(await effectsOf(database)).toEqual([id]);
    gate.open();
    await slow.settlement.idle();
    expect(await effectsOf(database)).toEqual([id]);
    expect(slow.log.text).toBe('');
  });

  it('that was lost prevents all writes: no failure is recorded and no hook is called', async () => {
    const gate = new Gate();
    const called: string[] = [];
    const slow = new SettlementFixture(database, {
      hooks: { verifyPayment: () => gate.pass().then(() => true), onPaid: (payment) => void called.push(payment.id) },
    });
    const other = secondProcess(slow, { hooks: { verifyPayment: () => false } });
    const id = await slow.begin();
    await gate.reached;
    await database.advance(31_000);
    await other.work();
    const before = await slow.find(id);
    gate.open();
    await slow.settlement.idle();
    expect(called).toEqual([]);
    expect(await slow.find(id)).toEqual(before);
  });

  it('is released when the ledger is closed during a hook, and another process continues at once', async () => {
    const gate = new Gate();
    const signals: AbortSignal[] = [];
    const closing = new SettlementFixture(database, {
      timing: { closeMs: 20 },
      hooks: {
        onPaid: async (payment, context) => {
          signals.push(context.signal);
          await writeEffect(payment, context);
          await gate.pass();
        },
      },
    });
    const other = secondProcess(closing, { hooks: { onPaid: writeEffect } });
    const id = await closing.begin();
    await gate.reached;
    await closing.settlement.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(await effectsOf(database)).toEqual([]);
    await database.advance(2_000);
    await other.work();
    expect(await effectsOf(database)).toEqual([id]);
  });

  it('that ended with a dead letter stays ended, and its next heartbeat does not abort onDeadLetter', async () => {
    const real = database.db;
    let heartbeats = 0;
    const db: Database = {
      isShared: real.isShared,
      query: async (sql, values) => {
        const result = await real.query<never>(sql, values);
        if (statementName(sql) === 'heartbeat') heartbeats += 1;
        return result;
      },
      transaction: (work, options) => real.transaction(work, options),
      close: () => real.close(),
    };
    const gate = new Gate();
    const fail = (): never => {
      throw new Error('the printer is on fire');
    };
    const ledger = new SettlementFixture(database, {
      db,
      timing: { leaseMs: 150 },
      settings: { hookAttempts: 1, hookTimeoutMs: 60_000 },
      hooks: { onPaid: fail, onDeadLetter: () => gate.pass() },
    });
    const id = await ledger.begin();
    await gate.reached;
    const before = heartbeats;
    await eventually('a heartbeat while onDeadLetter runs', () => heartbeats > before);
    gate.open();
    await ledger.settlement.idle();
    expect(ledger.log.text).toContain(`payment ${id} is a dead letter`);
    expect(ledger.log.text).not.toContain('onDeadLetter failed');
    const { rows } = await real.query('select state, leased_until from express_intents.payments');
    expect(rows).toEqual([{ state: 'dead', leased_until: null }]);
  });
});

test('a lease in a ledger of a single process outlasts a hook that blocks its heartbeats', async () => {
  const database = await openLedger('embedded', false);
  let isInHook = false;
  const busy: Database = {
    isShared: database.db.isShared,
    query: async (sql, values) => {
      if (isInHook) throw new IntentError('ledger_unavailable', 'Another transaction has had the database for long.');
      return database.db.query(sql, values);
    },
    transaction: (work) => database.db.transaction(work),
    close: () => database.db.close(),
  };
  const ledger = new SettlementFixture(database, {
    db: busy,
    timing: { leaseMs: 60 },
    hooks: {
      onPaid: async (payment, context) => {
        isInHook = true;
        await writeEffect(payment, context);
        await delay(300);
        isInHook = false;
      },
    },
  });
  const id = await ledger.create();
  ledger.pay(id);
  void ledger.settlement.recheck(id);
  await ledger.work();
  expect(await ledger.find(id)).toMatchObject({ state: 'settled', attempts: 0 });
  expect(await effectsOf(database)).toEqual([id]);
});

describe('a lease among processes', () => {
  it('that is lost during a hook prevents the commit of the hook', async () => {
    const database = await openLedger('postgres', true);
    const gate = new Gate();
    const frozen = new SettlementFixture(database, {
      hooks: {
        onPaid: async (payment, context) => {
          await writeEffect(payment, context);
          await gate.pass();
        },
      },
    });
    const other = secondProcess(frozen, { hooks: { onPaid: writeEffect } });
    const id = await frozen.begin();
    await gate.reached;
    await database.advance(31_000);
    await other.work();
    expect(await effectsOf(database)).toEqual([id]);
    gate.open();
    await frozen.settlement.idle();
    expect(await effectsOf(database)).toEqual([id]);
    expect(await other.path(id)).toBe('created > submitted > settled');
    expect(await other.find(id)).toMatchObject({ state: 'settled', attempts: 0 });
  });

  it('is extended by heartbeats for as long as the work takes', async () => {
    const database = await openLedger('postgres', true);
    const gate = new Gate();
    const timing = { leaseMs: 300 };
    const slow = new SettlementFixture(database, {
      timing,
      hooks: {
        onPaid: async (payment, context) => {
          await writeEffect(payment, context);
          await gate.pass();
        },
      },
    });
    const other = secondProcess(slow, { timing, hooks: { onPaid: writeEffect } });
    const id = await slow.create();
    slow.pay(id);
    await database.setTime('2026-01-01T12:00:00.000Z');
    const leasedUntil = async (): Promise<number> => {
      const sql = 'select extract(epoch from leased_until)::float8 * 1000 as ms from express_intents.payments';
      return (await database.db.query<{ ms: number }>(sql)).rows[0]?.ms ?? 0;
    };
    void slow.settlement.recheck(id);
    expect(await slow.settlement.round()).toBe(1);
    await gate.reached;
    for (let passedMs = 0; passedMs < 1_500; passedMs += 250) {
      const before = await leasedUntil();
      await database.advance(250);
      await eventually('a heartbeat', async () => (await leasedUntil()) > before);
      expect(await other.settlement.round()).toBe(0);
    }
    gate.open();
    await slow.settlement.idle();
    expect((await slow.find(id)).state).toBe('settled');
    expect(await effectsOf(database)).toEqual([id]);
  });

  it('that another process has taken aborts the signal of the hook at the next heartbeat', async () => {
    const database = await openLedger('postgres', false);
    const gate = new Gate();
    let signal: AbortSignal | undefined;
    const slow = new SettlementFixture(database, {
      timing: { leaseMs: 150 },
      hooks: {
        onPaid: (_payment, context) => {
          signal = context.signal;
          return gate.pass();
        },
      },
    });
    const id = await slow.create();
    slow.pay(id);
    void slow.settlement.recheck(id);
    await slow.settlement.round();
    await gate.reached;
    await database.db.query('update express_intents.payments set lease_token = lease_token + 1');
    await eventually('the signal is aborted', () => signal?.aborted === true);
    await slow.settlement.idle();
    expect(await slow.find(id)).toMatchObject({ state: 'submitted', lastError: undefined });
  });
});
