import { claimDue, releaseClaims } from '../../../src/ledger/settlement/claim-payments.js';
import { updateClaimed } from '../../../src/ledger/settlement/claim-writes.js';
import { defaultTiming } from '../../../src/ledger/settlement/settlement-timing.js';
import { openTestDatabase } from '../../support/databases/databases.js';
import { insertPayments } from './insert-payments.js';

test('claims, the submission, the start of a hook and a release write to no index', async () => {
  const { db } = await openTestDatabase('postgres');
  await insertPayments(db, 20, -1_000);
  const counted = await db.transaction(async (tx) => {
    const limits = { first: 20, retry: 1, slow: 1, quarantine: 1 };
    const claims = await claimDue(tx, limits, { timing: defaultTiming, hooks: [] });
    for (const claimed of claims) {
      await updateClaimed(tx, claimed, 'submit', { due_ms: 0, watch_ms: 1_000 });
      await updateClaimed(tx, { ...claimed, state: 'submitted' }, 'startHook', { hook: 'onPaid' });
    }
    await releaseClaims(tx, claims);
    const { rows } = await tx.query(
      `select n_tup_upd::int as updates, n_tup_hot_upd::int as hot from pg_stat_xact_user_tables where relname = 'payments'`,
    );
    return rows;
  });
  // Some move to another page, because their own is full.
  expect(counted).toEqual([{ updates: 80, hot: expect.any(Number) }]);
  expect(Number(counted[0]?.hot)).toBeGreaterThan(40);
});
