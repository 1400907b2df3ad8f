import { setTimeout as wait } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { createLedger } from '../../src/ledger/create-ledger.js';
import type { Database } from '../../src/ledger/database/database.js';
import type { Ledger } from '../../src/ledger/ledger.js';
import { LogRecorder } from '../support/sites/site.js';

const log = new LogRecorder();
afterEach(() => void jest.useRealTimers());

/** An empty database that records its calls. */
class FakeDatabase implements Database {
  readonly isShared = false;
  readonly calls: string[] = [];
  readonly query: Database['query'] = async (sql) => {
    this.calls.push(sql);
    return { rows: [], rowCount: 0 };
  };
  transaction: Database['transaction'] = async () => {
    throw new Error('There is no transaction here.');
  };

  async close(): Promise<void> {
    this.calls.push('close');
  }
}

function ledgerIn(open: () => Promise<Database>): Ledger {
  const hour = 3_600_000;
  return createLedger({
    open,
    hooks: {},
    fetchStatus: async () => ({ exists: false, intentSubmitted: false }),
    fetchUserId: undefined,
    settings: {
      settleDelayMs: 0,
      watchMs: hour,
      reversalWatchMs: hour,
      settlementConcurrency: 1,
      hookAttempts: 3,
      hookTimeoutMs: 1_000,
      lateAfterMs: hour,
    },
    timing: { roundMs: 1 },
    logger: log,
  });
}

test.each([0, 2, 5])(
  'a ledger closed %i microtasks after its database opened makes no query after the close',
  async (microtasks) => {
    const db = new FakeDatabase();
    let open: (db: Database) => void = () => undefined;
    const opened = new Promise<Database>((resolve) => {
      open = resolve;
    });
    const ledger = ledgerIn(() => opened);
    open(db);
    for (let turn = 0; turn < microtasks; turn += 1) await null;
    await ledger.close();
    await wait(20);
    expect(db.calls.at(-1)).toBe('close');
    expect(db.calls.filter((call) => call === 'close')).toHaveLength(1);
    expect(log.text).toBe('');
  },
);

test('a call that completes a login waits 5 s in total, for any number of earlier calls for this login', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'clearImmediate', 'queueMicrotask'] });
  const db = new FakeDatabase();
  const failRunning: (() => void)[] = [];
  db.transaction = () =>
    new Promise((_resolve, reject) => {
      failRunning.push(() => reject(new Error('onLogin failed')));
    });
  const ledger = ledgerIn(async () => db);
  await ledger.ready();
  const login = { id: 'login', browser: new Uint8Array(32), ttlMs: 120_000, userId: 'user', key: 'key' };
  const outcomes: string[] = [];
  const completions = Array.from({ length: 4 }, async () => {
    const error = await ledger.completeLogin(login, async () => undefined).catch((failure) => failure);
    outcomes.push(error.code ?? error.message);
  });
  await jest.advanceTimersByTimeAsync(4_000);
  failRunning[0]?.();
  await jest.advanceTimersByTimeAsync(999);
  expect([failRunning.length, outcomes]).toEqual([2, ['onLogin failed']]);
  await jest.advanceTimersByTimeAsync(2);
  const unavailable = ['ledger_unavailable', 'ledger_unavailable'];
  expect([failRunning.length, outcomes]).toEqual([2, ['onLogin failed', ...unavailable]]);
  failRunning[1]?.();
  await Promise.all(completions);
  expect(outcomes).toEqual(['onLogin failed', ...unavailable, 'onLogin failed']);
  jest.useRealTimers();
  await ledger.close();
});
