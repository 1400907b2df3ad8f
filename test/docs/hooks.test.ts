import type { DatabaseTransaction, Hooks } from '../../src/index.js';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { type LedgerSite, startLedgerSite, untilState } from '../support/sites/ledger-site.js';
import { destination } from '../support/sites/site.js';

// "Await every query" in docs/hooks.md.

let site: LedgerSite;
let onPaid: Required<Hooks>['onPaid'];
beforeAll(async () => {
  site = await startLedgerSite({
    databaseUrl: await newDatabaseUrl('embedded'),
    onPaid: (...args) => onPaid?.(...args),
  });
  await site.router.database.query('create table notes (text text not null)');
});
beforeEach(() => site.router.database.query('delete from notes'));

const notes = async () => (await site.router.database.query('select text from notes')).rows.map(({ text }) => text);

async function pay(): Promise<string> {
  const { id, clientSecret } = await site.router.createPayment({ amount: '1.00', currency: 'usd', destination });
  await site.sequencer.wallet().pay(clientSecret);
  await site.router.intents.recheck(id);
  return id;
}

const insert = "insert into notes values ('a note')";

test('a query that onPaid sends and does not await is committed with the payment', async () => {
  onPaid = (_payment, { tx }) => void tx.query(insert);
  await untilState(site, await pay(), 'settled');
  expect(await notes()).toEqual(['a note']);
});

test('a query that is sent after the transaction has ended is rejected, and the payment is settled without it', async () => {
  let kept: DatabaseTransaction | undefined;
  onPaid = (_payment, { tx }) => {
    kept = tx;
  };
  await untilState(site, await pay(), 'settled');
  await expect(kept?.query(insert)).rejects.toThrow('Await every query');
  expect(await notes()).toEqual([]);
});
