import { setTimeout as delay } from 'node:timers/promises';
import { IntentError } from '../../../src/errors.js';
import type { Database } from '../../../src/ledger/database/database.js';
import type { Payment, PaymentHookContext } from '../../../src/ledger/payment.js';
import { kinds, openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { SettlementFixture, type SettlementOptions } from './settlement-fixture.js';

/** Lets those wait who come to it, until a test opens it. */
class Gate {
  #come: () => void = () => undefined;
  /** Resolves when the first has come. */
  readonly reached = new Promise<void>((resolve) => {
    this.#come = resolve;
  });
  open: () => void = () => undefined;
  readonly #opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });

  pass(): Promise<void> {
    this.#come();
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

/** A second process, as far as the database can tell. Its sequencer says the same. */
function beside(first: SettlementFixture, options?: SettlementOptions): SettlementFixture {
  return new SettlementFixture(first.database, { ...options, sequencer: first.sequencer });
}

describe.each(kinds)('the lease of a payment on %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openLedger(kind, true);
  });
  beforeEach(async () => {
    await database.db.query('truncate express_intents.intents, express_intents.history, effects');
    await database.setTime('2026-01-01T12:00:00.000Z');
  });

  it('keeps others away while it lasts, and lets them in after its end', async () => {
    const gate = new Gate();
    const slow = new SettlementFixture(database, {
      hooks: { verifyPayment: () => gate.pass().then(() => true), onPaid: writeEffect },
    });
    const other = beside(slow, { hooks: { onPaid: writeEffect } });
    const id = await slow.create();
    slow.pay(id);
    await database.advance(5_000);
    expect(await slow.settlement.round()).toBe(1);
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

  it('that was lost lets nothing be written: neither a failure, nor that a hook is called', async () => {
    const gate = new Gate();
    const called: string[] = [];
    const slow = new SettlementFixture(database, {
      hooks: { verifyPayment: () => gate.pass().then(() => true), onPaid: (payment) => void called.push(payment.id) },
    });
    const other = beside(slow, { hooks: { verifyPayment: () => false } });
    const id = await slow.create();
    slow.pay(id);
    await database.advance(5_000);
    await slow.settlement.round();
    await gate.reached;
    await database.advance(31_000);
    await other.work();
    const before = await slow.find(id);
    gate.open();
    await slow.settlement.idle();
    expect(called).toEqual([]);
    expect(await slow.find(id)).toEqual(before);
  });

  it('is given back when the ledger is closed in the middle, so that another goes on at once', async () => {
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
    const other = beside(closing, { hooks: { onPaid: writeEffect } });
    const id = await closing.create();
    closing.pay(id);
    await database.advance(5_000);
    await closing.settlement.round();
    await gate.reached;
    await closing.settlement.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(await effectsOf(database)).toEqual([]);
    await database.advance(2_000);
    await other.work();
    expect(await effectsOf(database)).toEqual([id]);
  });

  it('is waited for when the ledger is closed and its work soon ends', async () => {
    const gate = new Gate();
    const closing = new SettlementFixture(database, { hooks: { onPaid: () => gate.pass() } });
    const id = await closing.create();
    closing.pay(id);
    await database.advance(5_000);
    await closing.settlement.round();
    const closed = closing.settlement.close();
    gate.open();
    await closed;
    expect((await closing.find(id)).state).toBe('settled');
  });

  it('of a process that died counts its call: a hook that takes the process with it becomes a dead letter', async () => {
    const ledger = new SettlementFixture(database, { hooks: { onPaid: writeEffect } });
    const id = await ledger.create();
    ledger.pay(id);
    // What a process leaves behind that died in its third call, which was the only one.
    await database.db.query(
      `update express_intents.intents set state = 'submitted', submitted_at = now(), attempts = 2,
         hook_run = 'alone', lane = 'alone', due_at = now()`,
    );
    await ledger.after(1_000);
    expect(await ledger.find(id)).toMatchObject({ state: 'dead', lastError: 'Error: The process ended in it.' });
    expect(await effectsOf(database)).toEqual([]);
  });
});

test('the lease of a payment on a database of one process outlasts a hook that holds up its heartbeats', async () => {
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

describe('the lease of a payment, among processes', () => {
  it('that was lost in the middle of a hook lets nothing of that hook be committed', async () => {
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
    const other = beside(frozen, { hooks: { onPaid: writeEffect } });
    const id = await frozen.create();
    frozen.pay(id);
    await database.advance(5_000);
    await frozen.settlement.round();
    await gate.reached;
    await database.advance(31_000);
    await other.work();
    expect(await effectsOf(database)).toEqual([id]);
    gate.open();
    await frozen.settlement.idle();
    expect(await effectsOf(database)).toEqual([id]);
    expect(await other.path(id)).toBe('open > submitted > settled');
    expect(await other.find(id)).toMatchObject({ state: 'settled', attempts: 0 });
  });

  it('is kept by its heartbeat for as long as the work takes', async () => {
    const database = await openLedger('postgres', false);
    const timing = { leaseMs: 300, watchFirstMs: 1 };
    const slow = new SettlementFixture(database, {
      timing,
      hooks: {
        onPaid: async (payment, context) => {
          await writeEffect(payment, context);
          await delay(1_500);
        },
      },
    });
    const other = beside(slow, { timing, hooks: { onPaid: writeEffect } });
    const id = await slow.create();
    slow.pay(id);
    void slow.settlement.recheck(id);
    expect(await slow.settlement.round()).toBe(1);
    let claimed = 0;
    while ((await slow.find(id)).state !== 'settled') claimed += await other.settlement.round();
    expect(claimed).toBe(0);
    expect(await effectsOf(database)).toEqual([id]);
  });

  it('that another has taken is noticed by its heartbeat, and told to the hook', async () => {
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
    await database.db.query('update express_intents.intents set lease_token = lease_token + 1');
    await slow.settlement.idle();
    expect(signal?.aborted).toBe(true);
    expect(await slow.find(id)).toMatchObject({ state: 'submitted', lastError: undefined });
  });
});
