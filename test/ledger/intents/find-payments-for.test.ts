import { findPaymentsFor } from '../../../src/ledger/intents/find-intents.js';
import { recordIntents } from '../../../src/ledger/intents/record-intent.js';
import { openTestDatabase } from '../../support/databases/databases.js';
import { move } from '../../support/databases/ledger-rows.js';

it('findPaymentsFor finds a submitted payment behind any number of newer unpaid ones', async () => {
  const { db } = await openTestDatabase('postgres');
  const browser = new Uint8Array(32).fill(7);
  const money = { amount: '1.00', currency: 'usd', destination: 'd' };
  const terms = { ...money, description: undefined, login: false, resource: 'tea', metadata: {} };
  const times = { watchFirstMs: 1, watchMs: 1_000_000 };
  for (let number = 0; number < 30; number += 1) {
    await recordIntents(db, [{ id: `id-${number}`, terms, browser }], times);
  }
  await move(db, 'id-0', ['submit']);
  const ids = (await findPaymentsFor(db, browser, 'tea')).map(({ id }) => id);
  expect(ids[0]).toBe('id-0');
});
