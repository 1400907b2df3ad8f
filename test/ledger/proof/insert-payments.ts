import type { Queryable } from '../../../src/ledger/database/database.js';

/** Inserts many open payments, which become due one after the other, the first in `dueInMs`. */
export async function insertPayments(db: Queryable, count: number, dueInMs: number): Promise<void> {
  await db.query(
    `with given as (
       select n, 'payment' || lpad((n + (select count(*) from express_intents.intents))::text, 30, '0') as id
       from generate_series(1, $1::int) n),
     payments as (
       insert into express_intents.payments (intent_id, state, due_at, watch_until)
       select id, 'created', now() + $2::float8 * interval '1 millisecond' + n * interval '1 microsecond', now() + interval '30 days'
       from given)
     insert into express_intents.intents (id, kind, amount, currency, destination, browser)
     select id, 'payment', 4.5, 'usd', 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR', '\\x07' from given`,
    [count, dueInMs],
  );
}
