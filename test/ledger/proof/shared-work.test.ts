import { claimDue } from '../../../src/ledger/settlement/claim-payments.js';
import { Settlement } from '../../../src/ledger/settlement/settlement.js';
import { defaultTiming } from '../../../src/ledger/settlement/settlement-timing.js';
import { openTestDatabase } from '../../support/databases/databases.js';
import { eventually } from '../../support/eventually.js';
import { fastLedger } from './child-orders.js';
import { insertPayments } from './insert-payments.js';

test('a claim skips payments that another process has locked, and does not wait for them', async () => {
  const { db } = await openTestDatabase('postgres');
  await insertPayments(db, 10, -1_000);
  await db.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      'select intent_id as id from express_intents.payments order by due_at limit 4 for update',
    );
    const claim = claimDue(db, { first: 4, retry: 1, slow: 1, quarantine: 1 }, { timing: defaultTiming, hooks: [] });
    let isDone = false;
    void claim.finally(() => {
      isDone = true;
    });
    const waiting = 'select from pg_locks where not granted';
    await eventually(async () => isDone || ((await tx.query(waiting)).rowCount ?? 0) > 0);
    expect(isDone).toBe(true);
    const locked = rows.map(({ id }) => id);
    expect(await claim).toHaveLength(4);
    for (const { payment } of await claim) expect(locked).not.toContain(payment.id);
  });
});

test.each([
  ['postgres' as const, 'leaves the claims of other processes alone', '1'],
  // Only one process can have the folder, so its predecessor is dead.
  ['embedded' as const, 'releases the claims of its predecessor at once', '2'],
])(
  'a ledger on %s that starts %s',
  async (kind, _what, lease) => {
    const { db } = await openTestDatabase(kind);
    await insertPayments(db, 1, -1_000);
    expect(
      await claimDue(db, { first: 1, retry: 1, slow: 1, quarantine: 1 }, { timing: defaultTiming, hooks: [] }),
    ).toHaveLength(1);
    const starting = new Settlement({
      ...{ db, hooks: {}, fetchUserId: undefined, settings: fastLedger.settings, timing: defaultTiming },
      fetchStatus: async () => ({ exists: true, intentSubmitted: false }),
      logger: { warn: () => undefined, error: () => undefined },
    });
    starting.start();
    await starting.close();
    const { rows } = await db.query('select lease_token::text as lease from express_intents.payments');
    expect(rows).toEqual([{ lease }]);
  },
  120_000,
);
