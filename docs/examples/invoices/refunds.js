/** Refunds: first recorded, then sent from a wallet, then completed with the reference of the transfer. */
export async function createRefundsTable(database) {
  await database.query(`create table if not exists refunds (
    id bigint generated always as identity primary key,
    payment text not null,
    amount numeric(19, 2) not null check (amount > 0),
    account text not null,
    reference text
  )`);
}

/** Records a refund to send. Throws if all refunds of the payment together would exceed its amount. */
export async function recordRefund(router, { payment: id, amount, account }) {
  const payment = await router.intents.find(id);
  if (payment?.state !== 'settled') throw new Error(`Payment ${id} is ${payment?.state ?? 'unknown'}, not settled.`);
  return router.database.transaction(async (tx) => {
    // One refund of a payment at a time, even across processes.
    await tx.query('select pg_advisory_xact_lock(hashtext($1))', [id]);
    const { rows } = await tx.query(
      `insert into refunds (payment, amount, account)
       select $1, $2::numeric, $3
       where $2::numeric + coalesce((select sum(amount) from refunds where payment = $1), 0) <= $4::numeric
       returning id::text as id`,
      [id, amount, account, payment.amount],
    );
    if (!rows[0]) throw new Error(`The refunds of ${id} would exceed ${payment.amount} ${payment.currency}.`);
    return rows[0].id;
  });
}

/** Records that the money was sent. */
export async function completeRefund(router, id, reference) {
  await router.database.query('update refunds set reference = $2 where id = $1::bigint and reference is null', [
    id,
    reference,
  ]);
}
