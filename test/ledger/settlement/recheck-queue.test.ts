import { jest } from '@jest/globals';
import type { Database } from '../../../src/ledger/database/database.js';
import { RecheckQueue } from '../../../src/ledger/settlement/recheck-queue.js';
import { eventually } from '../../support/eventually.js';
import { statementName } from '../proof/statement-name.js';
import { SettlementFixture, useDatabase } from './settlement-fixture.js';

// The order and number of polls: those of rechecks, and those due.

/** The next round is later than the end of any test. */
const never = { roundMs: 600_000 };

describe('a settlement', () => {
  const database = useDatabase('postgres');

  async function createPaid(ledger: SettlementFixture, count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) ids.push(await ledger.create());
    for (const id of ids) ledger.pay(id);
    await database.advance(5_000);
    return ids;
  }

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
        if (statementName(sql) === 'claim unpaid') state.claims += 1;
        // The last write of a poll of an unpaid payment.
        if (statementName(sql) === 'poll') {
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

  it('retries a recheck of a payment that another process has claimed, and then gives it up', async () => {
    const { ledger, state } = heldPolls(never);
    const [id = '', abandoned = ''] = await createPaid(ledger, 2);
    const claim = (seconds: number) =>
      database.db.query(`update express_intents.payments set leased_until = now() + interval '${seconds} s'`);
    await claim(20);
    ledger.settlement.start();
    await ledger.settlement.recheck(abandoned);
    expect([state.claims, ledger.statusCalls.size]).toEqual([5, 0]);
    const rechecked = ledger.settlement.recheck(id);
    await eventually('the first attempt', () => state.claims > 5);
    await claim(-1);
    await rechecked;
    expect(await ledger.find(id)).toMatchObject({ state: 'settled' });
    await ledger.settlement.close();
  });

  it('that is closed resolves its rechecks, of which it keeps at most a thousand', async () => {
    const ledger = new SettlementFixture(database, { timing: never });
    const kept: string[] = [];
    const rechecks = Array.from({ length: 1_000 }, (_, n) => ledger.settlement.recheck(`id-${n}`));
    for (const [n, recheck] of rechecks.entries()) void recheck.then(() => kept.push(`id-${n}`));
    await ledger.settlement.recheck('one too many');
    expect(kept).toEqual([]);
    await ledger.settlement.close();
    await Promise.all(rechecks);
  });
});

it('the recheck queue retries a payment that this process has claimed until the claim ends, and then at once', () => {
  jest.useFakeTimers();
  const queue = new RecheckQueue(() => undefined);
  void queue.add('a');
  for (let retry = 0; retry < 20; retry += 1) {
    queue.missed(queue.take(1), new Set(['a']));
    expect(queue.waiting).toBe(0);
    if (retry < 19) jest.advanceTimersByTime(800);
  }
  queue.claimEnded('a');
  expect(queue.take(1)).toEqual(['a']);
  // Another process has it now: as many retries as at the beginning.
  queue.missed(['a']);
  jest.advanceTimersByTime(100);
  expect(queue.take(1)).toEqual(['a']);
  jest.useRealTimers();
});
