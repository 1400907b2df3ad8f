import type { Database } from '../../../src/ledger/database/database.js';
import type { Payment, PaymentHookContext } from '../../../src/ledger/payment.js';
import { kinds, openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { eventually } from '../../support/eventually.js';
import { FakeSequencer, minuteMs, SettlementFixture } from './settlement-fixture.js';

// A hook that crashes the process, next to payments that do not. A process is a settlement whose database rejects every
// statement from the moment it has ended.

/** A database that rejects every call once its process has ended. */
class ProcessDatabase implements Database {
  readonly isShared: boolean;
  hasEnded = false;
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
    this.isShared = db.isShared;
  }

  #require(): void {
    if (this.hasEnded) throw new Error('The process has ended.');
  }

  query: Database['query'] = async (sql, values) => {
    this.#require();
    const result = await this.#db.query<never>(sql, values);
    this.#require();
    return result;
  };

  transaction: Database['transaction'] = async (work) => {
    this.#require();
    return this.#db.transaction(async (tx) => {
      const value = await work(tx);
      this.#require();
      return value;
    });
  };

  async close(): Promise<void> {}
}

describe.each(kinds)('payments whose hook crashes the process, on %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase(kind, { fakeTime: true });
    await database.db.query('create table effects (id text)');
  });
  beforeEach(async () => {
    await database.db.query('truncate express_intents.intents, express_intents.history, effects');
    await database.setTime('2026-01-01T12:00:00.000Z');
  });

  /** The site: the payments whose hook crashes the process, and the processes it has run in. */
  class Site {
    readonly sequencer = new FakeSequencer();
    readonly culprits = new Set<string>();
    readonly calls: string[] = [];
    crashes = 0;
    /** For each crash, the payments whose hook was running. */
    readonly interrupted: string[][] = [];

    /** A new process. It ends when the hook of a culprit is called, and interrupts all running hooks. */
    start(): { ledger: SettlementFixture; process: ProcessDatabase } {
      const process = new ProcessDatabase(database.db);
      const running = new Set<string>();
      const onPaid = async ({ id }: Payment, { tx }: PaymentHookContext): Promise<void> => {
        running.add(id);
        this.calls.push(id);
        await tx.query('insert into effects values ($1)', [id]);
        if (this.culprits.has(id) && !process.hasEnded) {
          process.hasEnded = true;
          this.crashes += 1;
          this.interrupted.push([...running]);
        }
        // Long enough for the hooks of the others to start.
        for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        running.delete(id);
      };
      const settings = { hookAttempts: 4, settlementConcurrency: 24 };
      return {
        process,
        ledger: new SettlementFixture(database, {
          db: process,
          hooks: { onPaid },
          settings,
          sequencer: this.sequencer,
        }),
      };
    }
  }

  async function workUntilItEnds(site: Site): Promise<boolean> {
    const { ledger, process } = site.start();
    await ledger.work().catch(() => undefined);
    await ledger.settlement.idle();
    return process.hasEnded;
  }

  it('are found one at a time: no other payment is charged an attempt, and all others settle', async () => {
    const site = new Site();
    const creator = new SettlementFixture(database, { sequencer: site.sequencer });
    const ids: string[] = [];
    for (let n = 0; n < 12; n += 1) ids.push(await creator.create());
    for (const id of ids) creator.pay(id);
    const culprits = [ids[1], ids[4], ids[5]] as string[];
    for (const id of culprits) site.culprits.add(id);
    await database.advance(5_000);
    const innocent = ids.filter((id) => !site.culprits.has(id));
    for (let life = 0; life < 60; life += 1) {
      await workUntilItEnds(site);
      const found = await Promise.all(innocent.map((id) => creator.find(id)));
      for (const intent of found) expect(intent).toMatchObject({ attempts: 0, lastError: undefined });
      const dead = await Promise.all(culprits.map((id) => creator.find(id)));
      if ([...found, ...dead].every(({ state }) => state === 'settled' || state === 'dead')) break;
      await database.advance(minuteMs);
    }
    for (const id of innocent) expect((await creator.find(id)).state).toBe('settled');
    for (const id of culprits)
      expect(await creator.find(id)).toMatchObject({
        state: 'dead',
        attempts: 4,
        lastError: 'Error: onPaid was interrupted: the process ended or lost its database connection.',
      });
    // After the shared crashes, each culprit ran in quarantine, four times.
    const shared = site.interrupted.filter((running) => running.length > 1);
    expect(site.interrupted.length - shared.length).toBeGreaterThanOrEqual(culprits.length * 4);
    expect(shared.length).toBeLessThanOrEqual(culprits.length);
  });

  it('do not delay a later payment', async () => {
    const site = new Site();
    const creator = new SettlementFixture(database, { sequencer: site.sequencer });
    const culprit = await creator.create();
    site.culprits.add(culprit);
    creator.pay(culprit);
    await database.advance(5_000);
    await workUntilItEnds(site);
    await database.advance(minuteMs);
    await workUntilItEnds(site);
    expect(site.crashes).toBe(2);
    await database.advance(minuteMs);
    const later = await creator.create();
    creator.pay(later);
    await database.advance(5_000);
    await workUntilItEnds(site);
    await database.advance(minuteMs);
    await workUntilItEnds(site);
    expect(await creator.find(later)).toMatchObject({ state: 'settled', attempts: 0 });
  });

  it('are not charged an attempt when a killed process interrupted several: each settles, one at a time', async () => {
    const site = new Site();
    const creator = new SettlementFixture(database, { sequencer: site.sequencer });
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push(await creator.create());
    for (const id of ids) creator.pay(id);
    await database.advance(5_000);
    // The rows that a process leaves which was killed while the hooks of all four ran.
    await database.db.query(
      `update express_intents.intents set state = 'submitted', submitted_at = now(), running_hook = 'onPaid',
         leased_until = now() - interval '1 second', due_at = now() - interval '30 seconds'`,
    );
    let [running, most] = [0, 0];
    const onPaid = async ({ id }: Payment, { tx }: PaymentHookContext): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await tx.query('insert into effects values ($1)', [id]);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
    };
    const ledger = new SettlementFixture(database, { hooks: { onPaid }, sequencer: site.sequencer });
    await ledger.after(1_000);
    for (const id of ids) {
      expect(await ledger.find(id)).toMatchObject({ state: 'settled', attempts: 0 });
      expect(ledger.log.text).toContain(`work on payment ${id} was interrupted after the start of onPaid`);
    }
    expect(most).toBe(1);
    const { rows } = await database.db.query('select id from effects');
    expect(rows).toHaveLength(4);
  });

  it('become dead letters when verifyPayment crashes the process, and no other is charged', async () => {
    const sequencer = new FakeSequencer();
    const creator = new SettlementFixture(database, { sequencer });
    const [culprit, other] = [await creator.create(), await creator.create()];
    for (const id of [culprit, other]) creator.pay(id);
    await database.advance(5_000);
    let log = '';
    const life = async (): Promise<void> => {
      const process = new ProcessDatabase(database.db);
      const verifyPayment = async ({ id }: Payment): Promise<boolean> => {
        for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        if (id === culprit) process.hasEnded = true;
        return true;
      };
      const hooks = { verifyPayment };
      const ledger = new SettlementFixture(database, { db: process, hooks, sequencer, settings: { hookAttempts: 2 } });
      await ledger.work().catch(() => undefined);
      await ledger.settlement.idle();
      log += ledger.log.text;
    };
    for (let lives = 0; lives < 12; lives += 1) {
      await life();
      await database.advance(minuteMs);
    }
    expect(await creator.find(other)).toMatchObject({ state: 'settled', attempts: 0 });
    expect(await creator.find(culprit)).toMatchObject({
      state: 'dead',
      attempts: 2,
      deadLetterHook: 'verifyPayment',
      lastError: 'Error: verifyPayment was interrupted: the process ended or lost its database connection.',
    });
    expect(log).toContain(`verifyPayment failed for payment ${culprit} (attempt 1 of 2)`);
    expect(log).toContain(`payment ${culprit} is a dead letter: verifyPayment failed (attempt 2 of 2)`);
    expect(log).not.toContain('onPaid');
  });

  it.each([
    ['onPaid', 'verifyPayment'],
    ['verifyPayment', 'onPaid'],
  ] as const)('become dead letters with the name of the last failed hook: first %s, then %s', async (first, last) => {
    const sequencer = new FakeSequencer();
    const creator = new SettlementFixture(database, { sequencer });
    const id = await creator.create();
    creator.pay(id);
    const life = async (): Promise<void> => {
      const process = new ProcessDatabase(database.db);
      const { attempts } = await creator.find(id);
      const fails = attempts === 0 ? first : last;
      const verifyPayment = async (): Promise<boolean> => {
        process.hasEnded = fails === 'verifyPayment';
        return true;
      };
      const onPaid = (): void => {
        if (fails === 'onPaid') throw new Error('no stock');
      };
      const hooks = { verifyPayment, onPaid };
      const ledger = new SettlementFixture(database, { db: process, hooks, sequencer, settings: { hookAttempts: 2 } });
      await ledger.work().catch(() => undefined);
      await ledger.settlement.idle();
    };
    for (let lives = 0; lives < 8; lives += 1) {
      await database.advance(minuteMs);
      await life();
    }
    expect(await creator.find(id)).toMatchObject({ state: 'dead', attempts: 2, deadLetterHook: last });
  });

  test('a payment that waits for a slot after verifyPayment has no running hook', async () => {
    let settle: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const ledger = new SettlementFixture(database, {
      hooks: { verifyPayment: () => true, onPaid: () => held },
      settings: { hookTimeoutMs: 600_000 },
      timing: { hookConcurrency: 1 },
    });
    for (const id of [await ledger.create(), await ledger.create()]) ledger.pay(id);
    const working = ledger.after(5_000);
    const running = async (): Promise<unknown[]> => {
      const sql =
        'select running_hook from express_intents.intents where leased_until is not null order by 1 nulls last';
      return (await database.db.query<{ running_hook: unknown }>(sql)).rows.map((row) => row.running_hook);
    };
    await eventually(async () => expect(await running()).toEqual(['onPaid', null]));
    settle?.();
    await working;
    const { rows } = await database.db.query('select distinct state, lane from express_intents.intents');
    expect(rows).toEqual([{ state: 'settled', lane: 'first' }]);
  });
});
