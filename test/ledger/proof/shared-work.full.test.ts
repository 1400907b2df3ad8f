import { setTimeout as wait } from 'node:timers/promises';
import { openTestDatabase } from '../../support/databases/databases.js';
import { fastLedger, longLimits } from './child-orders.js';
import { effectsTable } from './evidence.js';
import { insertPayments } from './insert-payments.js';
import { LedgerProcess } from './ledger-process.js';

test('eight processes that share a thousand payments have each effect once, and each process does some', async () => {
  const database = await openTestDatabase('postgres');
  const { db } = database;
  await db.query(effectsTable);
  const statusCalls = new Map<string, number>();
  const handlers = {
    status: (id: string) => {
      statusCalls.set(id, (statusCalls.get(id) ?? 0) + 1);
      return { exists: true, intentSubmitted: true };
    },
    log: () => undefined,
  };
  const names = Array.from({ length: 8 }, (_, index) => `worker ${index + 1}`);
  const active = new Set<string>();
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  /** The first hooks wait for those of all processes, so a slow process gets a share too. */
  const hookOf = (name: string) => async () => {
    if (active.add(name).size === names.length) begin();
    await begun;
    // The time of a site that writes to its tables and calls another service.
    return { waitMs: 100, throws: false };
  };
  const settings = { ...fastLedger.settings, hookTimeoutMs: 240_000 };
  const workers = await Promise.all(
    names.map((name) =>
      LedgerProcess.start(
        { settings, timing: {}, limits: longLimits, name, database: database.settings },
        { ...handlers, hook: hookOf(name) },
      ),
    ),
  );
  await Promise.all(workers.map((worker) => worker.ready()));
  await insertPayments(db, 1_000, 0);
  const settled = `select worker, count(*)::float8 as count, count(distinct intent_id)::float8 as distinct
    from public.effects group by worker order by worker`;
  let shares: readonly { worker: string; count: number; distinct: number }[] = [];
  const endMs = performance.now() + 300_000;
  while (shares.reduce((sum, { count }) => sum + count, 0) < 1_000 && performance.now() < endMs) {
    await wait(50);
    shares = (await db.query<(typeof shares)[number]>(settled)).rows;
  }
  // Time for a doubled effect.
  await wait(300);
  const effects = await db.query('select intent_id from public.effects');
  expect(effects.rows).toHaveLength(1_000);
  expect(new Set(effects.rows.map(({ intent_id }) => intent_id)).size).toBe(1_000);
  expect(shares.map(({ worker }) => worker)).toEqual(names);
  expect([...statusCalls.values()].filter((times) => times > 1)).toEqual([]);
}, 360_000);
