import { newDatabaseUrl } from '../support/databases/databases.js';
import { type LedgerSite, startLedgerSite, untilState } from '../support/sites/ledger-site.js';
import { destination } from '../support/sites/site.js';

// The code of docs/refunds.md.

const { createRefundsTable, recordRefund, completeRefund } = await import(
  new URL('../../docs/examples/invoices/refunds.js', import.meta.url).href
);

describe.each(['embedded', 'postgres'] as const)('the code of docs/refunds.md with a ledger in %s', (kind) => {
  let site: LedgerSite;
  let payment: string;
  const refundsOf = async (id: string) =>
    (
      await site.router.database.query(
        'select amount::text as amount, account, reference from refunds where payment = $1 order by id',
        [id],
      )
    ).rows;

  beforeAll(async () => {
    site = await startLedgerSite({ ledger: { url: await newDatabaseUrl(kind) } });
    await createRefundsTable(site.router.database);
    await createRefundsTable(site.router.database);
    const terms = { amount: '10.00', currency: 'usd', destination };
    const { id, clientSecret } = await site.router.createPayment(terms);
    payment = id;
    await site.simulator.wallet().pay(clientSecret);
    await site.router.intents.recheck(id);
    await untilState(site, id, 'settled');
  });

  test('refunds parts of a payment, and at most the whole, also at the same time', async () => {
    const refund = (amount: string) => recordRefund(site.router, { payment, amount, account: destination });
    const id = await refund('4.00');
    const results = await Promise.allSettled([refund('3.00'), refund('3.00'), refund('3.00')]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    await expect(refund('0.01')).rejects.toThrow('would exceed 10.00 usd');
    await completeRefund(site.router, id, 'transfer 1');
    await completeRefund(site.router, id, 'transfer 2');
    expect(await refundsOf(payment)).toEqual([
      { amount: '4.00', account: destination, reference: 'transfer 1' },
      { amount: '3.00', account: destination, reference: null },
      { amount: '3.00', account: destination, reference: null },
    ]);
  });
});
