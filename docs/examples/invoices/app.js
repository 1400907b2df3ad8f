import { once } from 'node:events';
import express from 'express';
import { intentRouter } from 'express-intents';

const app = express();
const router = intentRouter({
  onPaid: async (payment, { tx }) => {
    const { invoice } = payment.metadata;
    const paid = 'update invoices set payment = $2 where number = $1 and payment is null';
    const { rowCount } = await tx.query(paid, [invoice, payment.id]);
    if (rowCount === 0) console.error(`Invoice ${invoice} was already paid. Pay back ${payment.id}.`);
  },
  onReversed: async (payment, { tx }) => {
    const reopen = 'update invoices set payment = null where number = $1 and payment = $2';
    await tx.query(reopen, [payment.metadata.invoice, payment.id]);
  },
});
app.use(router);

/** Replaces your email service in this example. */
const outbox = [];

/** Sends the invoice. A second call, such as a retry of a job, sends the same link. */
async function sendInvoice({ number, total, email }) {
  const { walletLink } = await router.createPayment(
    { amount: total, currency: 'eur', description: `Invoice ${number}`, metadata: { invoice: number } },
    { idempotencyKey: `invoice-${number}` },
  );
  outbox.push(`To ${email}: <a href="${walletLink}">Please pay invoice ${number}</a>`);
}

app.get('/', async (_req, res) => {
  const { rows } = await router.database.query('select number, total, payment from invoices order by number');
  const lines = rows.map(
    ({ number, total, payment }) => `Invoice ${number}, ${total} eur: ${payment ? 'paid' : 'open'}`,
  );
  res.send(
    `<p>${lines.join('<br>')}<p>Open the link in this email, pay, and reload this page.<p>${outbox.join('<br>')}`,
  );
});

async function start() {
  console.log('Opening the database. The first start takes a few seconds.');
  await router.ready();
  const { database } = router;
  await database.query('create table if not exists invoices (number int primary key, total text, payment text)');
  await database.query(`insert into invoices values (42, '120.00') on conflict do nothing`);
  await sendInvoice({ number: 42, total: '120.00', email: 'ada@example.com' });
  const port = process.env.PORT ?? 3000;
  await once(app.listen(port), 'listening');
  console.log(`The invoice is at http://localhost:${port}`);
}
start().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
