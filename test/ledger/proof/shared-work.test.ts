import { setTimeout as wait } from 'node:timers/promises';
import { Settlement } from '../../../src/ledger/settlement.js';
import { defaultTiming } from '../../../src/ledger/settlement-timing.js';
import { claimDue } from '../../../src/ledger/work.js';
import { openTestDatabase } from '../../support/databases/databases.js';
import { hasty } from './child-orders.js';
import { effectsTable } from './evidence.js';
import { insertPayments } from './insert-payments.js';
import { LedgerProcess } from './ledger-process.js';

test('who claims takes what others have not locked, and does not wait for them', async () => {
  const { db } = await openTestDatabase('postgres');
  await insertPayments(db, 10, -1_000);
  await db.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      'select id from express_intents.intents order by due_at limit 4 for update',
    );
    const claim = claimDue(db, { first: 4, retry: 1, slow: 1, alone: 1 }, defaultTiming);
    const claimed = await Promise.race([claim, wait(2_000).then(() => 'it waits')]);
    expect(claimed).toHaveLength(4);
    const locked = rows.map(({ id }) => id);
    for (const { payment } of await claim) expect(locked).not.toContain(payment.id);
  });
}, 120_000);

test.each([
  ['postgres' as const, 'leaves to others what they have', '1'],
  // Nobody else can have the folder: whoever had the work is dead.
  ['embedded' as const, 'takes up at once what was begun before', '2'],
])(
  'a ledger in %s that starts %s',
  async (kind, _what, lease) => {
    const { db } = await openTestDatabase(kind);
    await insertPayments(db, 1, -1_000);
    expect(await claimDue(db, { first: 1, retry: 1, slow: 1, alone: 1 }, defaultTiming)).toHaveLength(1);
    const starting = new Settlement({
      ...{ db, hooks: {}, askUserId: undefined, settings: hasty.settings, timing: defaultTiming },
      askStatus: async () => ({ exists: true, intentSubmitted: false }),
      logger: { warn: () => undefined, error: () => undefined },
    });
    starting.start();
    await starting.close();
    const { rows } = await db.query('select lease_token::text as lease from express_intents.intents');
    expect(rows).toEqual([{ lease }]);
  },
  30_000,
);

test('eight processes share a thousand payments: each has its effect once, and nobody does twice as much as another', async () => {
  const database = await openTestDatabase('postgres');
  const { db } = database;
  await db.query(effectsTable);
  const asked = new Map<string, number>();
  const handlers = {
    status: (id: string) => {
      asked.set(id, (asked.get(id) ?? 0) + 1);
      return { exists: true, intentSubmitted: true };
    },
    // As a site takes that writes to its tables and calls another service.
    hook: () => ({ waitMs: 100, throws: false }),
    log: () => undefined,
  };
  const names = Array.from({ length: 8 }, (_, index) => `worker ${index + 1}`);
  const workers = await Promise.all(
    names.map((name) => LedgerProcess.start({ ...hasty, timing: {}, name, database: database.settings }, handlers)),
  );
  await Promise.all(workers.map((worker) => worker.ready()));
  await insertPayments(db, 1_000, 0);
  const settled = `select worker, count(*)::float8 as count, count(distinct intent_id)::float8 as distinct
    from public.effects group by worker order by worker`;
  let shares: readonly { worker: string; count: number; distinct: number }[] = [];
  while (shares.reduce((sum, { count }) => sum + count, 0) < 1_000) {
    await wait(50);
    shares = (await db.query<(typeof shares)[number]>(settled)).rows;
  }
  // Time for a second one.
  await wait(300);
  const effects = await db.query('select intent_id from public.effects');
  expect(effects.rows).toHaveLength(1_000);
  expect(new Set(effects.rows.map(({ intent_id }) => intent_id)).size).toBe(1_000);
  expect(shares.map(({ worker }) => worker)).toEqual(names);
  const counts = shares.map(({ count }) => count);
  expect(Math.max(...counts) / Math.min(...counts)).toBeLessThanOrEqual(2);
  expect([...asked.values()].filter((times) => times > 1)).toEqual([]);
}, 120_000);
