import { setTimeout as delay } from 'node:timers/promises';
import { jest } from '@jest/globals';
import type { Database } from '../../../src/ledger/database/database.js';
import { RecheckQueue } from '../../../src/ledger/settlement/recheck-queue.js';
import { openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { eventually } from '../../support/eventually.js';
import { SettlementFixture, type SettlementOptions } from './settlement-fixture.js';

// The order, number and frequency of polls: those of the recheck queue, and those due.

/** Whether the promise has resolved. */
async function isResolved(promise: Promise<void>): Promise<boolean> {
  return Promise.race([promise.then(() => true), delay(0).then(() => false)]);
}

describe('the recheck queue', () => {
  it('returns each intent once, in order, up to the given number', () => {
    const queue = new RecheckQueue(() => undefined);
    for (const id of ['a', 'b', 'a', 'c']) void queue.add(id);
    expect(queue.waiting).toBe(3);
    expect(queue.take(2)).toEqual(['a', 'b']);
    expect(queue.take(2)).toEqual(['c']);
    expect(queue.take(2)).toEqual([]);
  });

  it('wakes its settlement', () => {
    const wake = jest.fn();
    void new RecheckQueue(wake).add('a');
    expect(wake).toHaveBeenCalledTimes(1);
  });

  it('resolves all requests for an intent once it is rechecked', async () => {
    const queue = new RecheckQueue(() => undefined);
    const done = [queue.add('a'), queue.add('a')];
    queue.take(1);
    expect(await isResolved(done[0] as Promise<void>)).toBe(false);
    queue.done('a');
    await Promise.all(done);
    expect(queue.take(1)).toEqual([]);
  });

  it('rechecks again when a request arrives during a recheck, whose call may be older', async () => {
    const wake = jest.fn();
    const queue = new RecheckQueue(wake);
    const first = queue.add('a');
    queue.take(1);
    const second = queue.add('a');
    queue.done('a');
    await first;
    expect(wake).toHaveBeenCalledTimes(2);
    expect(queue.take(1)).toEqual(['a']);
    expect(await isResolved(second)).toBe(false);
    queue.done('a');
    await second;
    expect(queue.take(1)).toEqual([]);
  });

  it('does not treat the end of earlier work as the recheck', async () => {
    const queue = new RecheckQueue(() => undefined);
    const done = queue.add('a');
    queue.done('a');
    expect(await isResolved(done)).toBe(false);
    expect(queue.take(1)).toEqual(['a']);
  });

  it('retries an intent that another process has claimed, with growing delays and a limit', async () => {
    jest.useFakeTimers();
    const queue = new RecheckQueue(() => undefined);
    const done = queue.add('a');
    const waits: number[] = [];
    for (let waitedMs = 0; waitedMs < 10_000; ) {
      queue.missed(queue.take(1));
      const begunMs = waitedMs;
      while (queue.waiting === 0 && waitedMs < 10_000) {
        jest.advanceTimersByTime(50);
        waitedMs += 50;
      }
      if (queue.waiting > 0) waits.push(waitedMs - begunMs);
    }
    jest.useRealTimers();
    expect(waits).toEqual([100, 200, 400, 800]);
    await done;
  });

  describe('while this process has the claim', () => {
    beforeEach(() => void jest.useFakeTimers());
    afterEach(() => void jest.useRealTimers());
    const here = new Set(['a']);

    it('retries an intent until the claim ends', () => {
      const queue = new RecheckQueue(() => undefined);
      void queue.add('a');
      for (let retry = 0; retry < 20; retry += 1) {
        const taken = queue.take(1);
        expect(taken).toEqual(['a']);
        queue.missed(taken, here);
        expect(queue.waiting).toBe(0);
        jest.advanceTimersByTime(800);
      }
    });

    it('retries an intent immediately when the claim ends, once', async () => {
      const wake = jest.fn();
      const queue = new RecheckQueue(wake);
      const done = queue.add('a');
      queue.missed(queue.take(1), here);
      wake.mockClear();
      queue.claimEnded('a');
      expect(wake).toHaveBeenCalledTimes(1);
      expect(queue.take(1)).toEqual(['a']);
      jest.advanceTimersByTime(10_000);
      expect(queue.waiting).toBe(0);
      queue.done('a');
      await done;
    });

    it('allows as many retries after its end as another process would cause', async () => {
      const queue = new RecheckQueue(() => undefined);
      const done = queue.add('a');
      for (let miss = 0; miss < 10; miss += 1) {
        queue.missed(queue.take(1), here);
        jest.advanceTimersByTime(800);
      }
      // The claim ends before the result of the attempt to claim the payment arrives.
      const taken = queue.take(1);
      queue.claimEnded('a');
      queue.missed(taken);
      for (const delayMs of [100, 200, 400, 800]) {
        jest.advanceTimersByTime(delayMs - 1);
        expect(queue.waiting).toBe(0);
        jest.advanceTimersByTime(1);
        queue.missed(queue.take(1));
      }
      await done;
      expect(queue.waiting).toBe(0);
    });

    it('resolves all requests when the ledger is closed', async () => {
      const queue = new RecheckQueue(() => undefined);
      const requests = [queue.add('a')];
      queue.missed(queue.take(1), here);
      requests.push(queue.add('a'));
      queue.close();
      await Promise.all(requests);
      queue.claimEnded('a');
      jest.advanceTimersByTime(10_000);
      expect(queue.waiting).toBe(0);
    });
  });

  it('is limited to a thousand intents; the others wait until they are due', async () => {
    const queue = new RecheckQueue(() => undefined);
    for (let index = 0; index < 1_000; index += 1) void queue.add(String(index));
    await queue.add('one too many');
    expect(queue.take(2_000)).toHaveLength(1_000);
  });

  it('resolves all requests when the ledger is closed', async () => {
    const queue = new RecheckQueue(() => undefined);
    const waiting = queue.add('a');
    const taken = queue.add('b');
    queue.take(1);
    const again = queue.add('a');
    queue.close();
    await Promise.all([waiting, taken, again]);
  });
});

/** The next round is later than the end of any test. */
const never = { roundMs: 600_000 };

describe('a settlement', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase('postgres', { fakeTime: true });
  });
  beforeEach(async () => {
    await database.db.query('truncate express_intents.intents, express_intents.history');
    await database.setTime('2026-01-01T12:00:00.000Z');
  });

  /** A settlement, and the number of its queries for due payments. */
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

  it('queries once when there is room for everything that is due', async () => {
    const { ledger, claims } = counted({ timing: never, settings: { settlementConcurrency: 6 } });
    const [id = ''] = await createPaid(ledger, 1);
    ledger.settlement.start();
    await eventually(() => ledger.statusCalls.size === 1);
    await ledger.settlement.idle();
    expect((await ledger.find(id)).state).toBe('settled');
    expect(claims()).toBe(1);
    await ledger.settlement.close();
  });

  it('queries again at once while there is no room, until nothing is due', async () => {
    const { ledger, claims } = counted({ timing: never, settings: { settlementConcurrency: 2 } });
    const ids = await createPaid(ledger, 5);
    ledger.settlement.start();
    await eventually(() => ledger.statusCalls.size === ids.length);
    await ledger.settlement.idle();
    expect(claims()).toBeLessThanOrEqual(6);
    await ledger.settlement.close();
  });

  it('polls more payments at a time than it runs hooks, each of which holds a connection', async () => {
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
      timing: { ...never, hookConcurrency: 3 },
      settings: { settlementConcurrency: 8 },
    });
    await createPaid(ledger, 8);
    await ledger.settlement.round();
    await eventually(() => running === 3);
    expect(ledger.statusCalls.size).toBe(8);
    open();
    await ledger.settlement.idle();
    expect({ most, ended }).toEqual({ most: 3, ended: 8 });
  });

  /** A settlement whose scheduled polls wait before their last write, and the number of its claims for rechecks. */
  function heldPolls(timing = {}) {
    const state = { isHeld: false, claims: 0, open: (): void => undefined };
    const gate = new Promise<void>((resolve) => {
      state.open = resolve;
    });
    const { db } = database;
    const holding: Database = {
      isShared: true,
      query: async (sql, values) => {
        if (sql.includes('id = any($2')) state.claims += 1;
        // The last write of a poll of an unpaid payment.
        if (sql.includes('last_error = coalesce')) {
          state.isHeld = true;
          await gate;
        }
        return db.query(sql, values);
      },
      transaction: (work) => db.transaction(work),
      close: async () => undefined,
    };
    return { ledger: new SettlementFixture(database, { db: holding, timing }), state };
  }

  it('polls again when a recheck is requested during a scheduled poll, whose status is older', async () => {
    const { ledger, state } = heldPolls();
    const id = await ledger.create();
    await database.advance(5_000);
    expect(await ledger.settlement.round()).toBe(1);
    await eventually('the scheduled poll has its status', () => state.isHeld);
    ledger.pay(id);
    let isRechecked = false;
    void ledger.settlement.recheck(id).then(() => {
      isRechecked = true;
    });
    // The scheduled poll still has the claim.
    expect(await ledger.settlement.round()).toBe(0);
    state.open();
    await ledger.settlement.idle();
    await eventually('the recheck is done', async () => {
      await ledger.work();
      return isRechecked;
    });
    expect(await ledger.find(id)).toMatchObject({ state: 'settled' });
    expect(ledger.statusCalls.get(id)).toBe(2);
  });

  it('polls again when the scheduled poll has the claim for longer than another process may have it', async () => {
    const { ledger, state } = heldPolls(never);
    const id = await ledger.create();
    await database.advance(5_000);
    ledger.settlement.start();
    await eventually('the scheduled poll has its status', () => state.isHeld);
    ledger.pay(id);
    let isRechecked = false;
    const rechecked = ledger.settlement.recheck(id).then(() => {
      isRechecked = true;
    });
    await eventually('the recheck has had all retries', () => state.claims > 5 || isRechecked);
    expect(isRechecked).toBe(false);
    state.open();
    // The clock of the database stands still, so the next scheduled poll is never due.
    await rechecked;
    expect(await ledger.find(id)).toMatchObject({ state: 'settled' });
    expect(ledger.statusCalls.get(id)).toBe(2);
    await ledger.settlement.close();
  });

  it('that is closed before a hook starts releases the claim without counting an attempt', async () => {
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const ledger = new SettlementFixture(database, {
      hooks: { onPaid: () => gate },
      timing: { ...never, hookConcurrency: 1, closeMs: 20 },
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
