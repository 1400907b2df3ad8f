import type { Queryable } from '../database/database.js';
import type { PaymentHooks } from '../payment.js';

// A process without `onPaid` would settle a payment, and the order would never be fulfilled. Jobs and scripts are such processes.
// So each process records which of these hooks it has, and a process that lacks a recorded hook settles no payments.

export const requiredHooks = ['onPaid', 'onReversed', 'verifyPayment'] as const;
export type RequiredHook = (typeof requiredHooks)[number];

export function namesOfHooks(hooks: PaymentHooks): readonly RequiredHook[] {
  return requiredHooks.filter((name) => hooks[name]);
}

/** Whether a process with these hooks may settle payments, as a condition of SQL. */
export const hasAllHooksSql = (hooks: string): string =>
  `not exists (select from express_intents.required_hooks where name <> all(${hooks}::text[]))`;

/** Records the hooks of this process. @returns the hooks that it lacks */
export async function recordHooks(db: Queryable, hooks: readonly RequiredHook[]): Promise<RequiredHook[]> {
  const { rows } = await db.query<{ name: RequiredHook }>(
    `with added as (
       insert into express_intents.required_hooks (name) select unnest($1::text[]) on conflict (name) do nothing)
     select name from express_intents.required_hooks where name <> all($1::text[]) order by name`,
    [hooks],
  );
  return rows.map(({ name }) => name);
}

/** The recorded hooks that this process lacks. */
export async function findMissingHooks(db: Queryable, hooks: readonly RequiredHook[]): Promise<RequiredHook[]> {
  const { rows } = await db.query<{ name: RequiredHook }>(
    'select name from express_intents.required_hooks where name <> all($1::text[]) order by name',
    [hooks],
  );
  return rows.map(({ name }) => name);
}

/** Forgets a hook that the site no longer has. @returns false if it was not recorded */
export async function forgetHook(db: Queryable, hook: RequiredHook): Promise<boolean> {
  const { rowCount } = await db.query('delete from express_intents.required_hooks where name = $1', [hook]);
  return rowCount === 1;
}
