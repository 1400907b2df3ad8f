import { readFileSync } from 'node:fs';
import { intentStates } from '../../src/ledger/ledger.js';
import { drawTransitions, listedChanges } from '../../src/ledger/transitions.js';
import { openTestDatabase } from '../support/databases/databases.js';
import { insertPaymentRows } from '../support/databases/ledger-rows.js';

test('docs/architecture.md has the drawing of the transitions', () => {
  const docs = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8');
  expect(docs).toContain(`\`\`\`text\n${drawTransitions()}\n\`\`\``);
});

test('the database accepts the listed changes of the state of a payment, and no others', async () => {
  const { db } = await openTestDatabase('postgres');
  const states = intentStates.filter((state) => state !== 'completed');
  const accepted: string[] = [];
  for (const from of states) {
    await db.query(insertPaymentRows(`select '${from}' as id`, from));
    for (const to of states.filter((state) => state !== from)) {
      const undone = new Error('undone');
      const change = db.transaction(async (tx) => {
        await tx.query('update express_intents.payments set state = $2 where intent_id = $1', [from, to]);
        throw undone;
      });
      const error = await change.catch((failure) => failure);
      if (error === undone) accepted.push(`${from} ${to}`);
      else expect(String(error)).toContain(`cannot change from ${from} to ${to}`);
    }
  }
  const ofPayments = listedChanges.filter((change) => !change.includes('completed'));
  expect(accepted.sort()).toEqual(ofPayments.toSorted());
});
