import { readFileSync } from 'node:fs';
import { intentStates } from '../../src/ledger/ledger.js';
import { listedChanges, transitions } from '../../src/ledger/transitions.js';
import { openTestDatabase } from '../support/databases/databases.js';
import { insertPaymentRows } from '../support/databases/ledger-rows.js';

/** The transitions as a drawing, one line for each: first those that change the state. */
function drawTransitions(): string {
  const all = Object.entries(transitions);
  const width = (texts: readonly string[]): number => Math.max(...texts.map((text) => text.length));
  const [names, origins] = [
    width(all.map(([name]) => name)),
    width(all.map(([, { from, to }]) => (to ? from.join(', ') : ''))),
  ];
  const targets = width(intentStates);
  const lines = all.map(([name, { from, to, when }]) => {
    const change = to
      ? `${from.join(', ').padEnd(origins)} -> ${to.padEnd(targets)}`
      : 'the state stays'.padEnd(origins + targets + 4);
    return { isChange: to !== undefined, line: `${name.padEnd(names)}  ${change}  ${when}` };
  });
  const text = (isChange: boolean): string =>
    lines
      .filter((one) => one.isChange === isChange)
      .map(({ line }) => line)
      .join('\n');
  return `${text(true)}\n\n${text(false)}`;
}

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
