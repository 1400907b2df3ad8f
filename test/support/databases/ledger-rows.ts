import type { Queryable } from '../../../src/ledger/database/database.js';
import type { TransitionName } from '../../../src/ledger/transitions.js';
import { type TransitionValues, writeTransition } from '../../../src/ledger/write-transition.js';

/** The tables that a ledger writes. */
export const ledgerTables = ['intents', 'payments', 'logins', 'failures', 'history', 'required_hooks']
  .map((name) => `express_intents.${name}`)
  .join(', ');

const defaults: TransitionValues = { due_ms: 0, watch_ms: 0, attempts: 0, timeouts: 0, lane: 'first' };

/** Moves a payment along transitions, as a settlement does, with the given named values. */
export async function move(
  db: Queryable,
  id: string,
  names: readonly TransitionName[],
  values: TransitionValues = {},
): Promise<void> {
  for (const name of names) {
    const { rows } = await db.query<{ state: string }>(
      'select state from express_intents.payments where intent_id = $1',
      [id],
    );
    const write = { id, state: rows[0]?.state ?? '', leaseToken: null, values: { ...defaults, ...values } };
    const [changedMs] = await writeTransition(db, name, [write]);
    if (changedMs === undefined) throw new Error(`${id} was not changed by ${name}.`);
  }
}

/** SQL that inserts created logins whose ids the query `ids` returns in the column `id`, created `age` ago. */
export const insertLogins = (ids: string, age = `interval '0'`): string =>
  `with added as (
     insert into express_intents.intents (id, kind, browser, created_at)
     select id, 'login', '\\x07', now() - ${age} from (${ids}) given returning id, created_at)
   insert into express_intents.logins (intent_id, state, created_at) select id, 'created', created_at from added`;

/** SQL that inserts payments of one dollar whose ids the query `ids` returns in the column `id`. */
export const insertPaymentRows = (ids: string, state = 'created', dueAt = 'now()'): string =>
  `with added as (
     insert into express_intents.intents (id, kind, amount, currency, destination, browser)
     select id, 'payment', 1, 'usd', 'd', '\\x07' from (${ids}) given returning id, created_at)
   insert into express_intents.payments (intent_id, state, due_at, watch_until)
   select id, '${state}', ${dueAt}, now() + interval '30 days' from added`;
