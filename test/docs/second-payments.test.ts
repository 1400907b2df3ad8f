import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseTransaction, Hooks, Payment } from 'express-intents';
import { root } from '../package/consumer-project.js';
import { openTestDatabase, type TestDatabase } from '../support/databases/databases.js';
import { blocksOf } from './guides.js';

// The hooks of the guides that mark an order or an invoice as paid, called for two payments of it.

type PaymentHook = (payment: Pick<Payment, 'id' | 'metadata'>, context: { tx: DatabaseTransaction }) => Promise<void>;
type PaymentHooks = Readonly<Record<'onPaid' | 'onReversed', PaymentHook>>;

/** The options of all calls of `intentRouter` in a text. */
function hooksOf(text: string): PaymentHooks {
  const calls = [...text.matchAll(/intentRouter\((\{\n[\s\S]*?\n\})\)/g)].map(([, options]) => options);
  const found = calls.map((options) => new Function('orders', `return ${options}`)({}) as Hooks);
  return Object.assign({}, ...found) as PaymentHooks;
}

const guide = (path: string): PaymentHooks =>
  hooksOf(
    blocksOf(path)
      .filter(({ info, text }) => ['ts', 'js plain'].includes(info) && /onPaid|onReversed/.test(text))
      .map(({ text }) => text)
      .join('\n'),
  );

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase('embedded');
  await database.db.query('create table public.orders (id int primary key, payment text)');
  await database.db.query('create table public.invoices (number int primary key, payment text)');
  await database.db.query('create table public.second_payments (id text primary key)');
});
beforeEach(async () => {
  for (const table of ['orders', 'invoices', 'second_payments']) await database.db.query(`delete from public.${table}`);
  await database.db.query('insert into public.orders values (1), (2)');
  await database.db.query('insert into public.invoices values (1), (2)');
});

const call = (hook: PaymentHook, id: string) =>
  database.db.transaction((tx) => hook({ id, metadata: { order: 1, invoice: 1 } }, { tx }));
const select = async (sql: string) => (await database.db.query<{ payment: string | null }>(sql)).rows;
const paymentsOf = async (table: string) =>
  (await select(`select payment from public.${table} order by 1 nulls last`)).map(({ payment }) => payment);
const secondPayments = async () =>
  (await select('select id as payment from public.second_payments')).map(({ payment }) => payment);

test('payments.md: a second payment is recorded, and its reversal keeps the order paid', async () => {
  const { onPaid, onReversed } = guide('docs/payments.md');
  await call(onPaid, 'first');
  expect(await secondPayments()).toEqual([]);
  await call(onPaid, 'second');
  expect([await paymentsOf('orders'), await secondPayments()]).toEqual([['first', null], ['second']]);
  await call(onReversed, 'second');
  expect([await paymentsOf('orders'), await secondPayments()]).toEqual([['first', null], []]);
  await call(onReversed, 'first');
  expect(await paymentsOf('orders')).toEqual([null, null]);
  await call(onPaid, 'first');
  expect([await paymentsOf('orders'), await secondPayments()]).toEqual([['first', null], []]);
});

test('README.md: a second payment changes no order', async () => {
  const { onPaid } = guide('README.md');
  await call(onPaid, 'first');
  await call(onPaid, 'second');
  expect(await paymentsOf('orders')).toEqual(['first', null]);
});

test('the example invoices: a second payment is logged, and its reversal keeps the invoice paid', async () => {
  const logged: string[] = [];
  const text = readFileSync(join(root, 'docs/examples/invoices/app.js'), 'utf8');
  const { onPaid, onReversed } = hooksOf(text.replaceAll('console.error', 'globalThis.logOfTest'));
  Object.assign(globalThis, { logOfTest: (line: string) => logged.push(line) });
  await call(onPaid, 'first');
  expect(logged).toEqual([]);
  await call(onPaid, 'second');
  expect(logged).toEqual(['Invoice 1 was already paid. Pay back second.']);
  await call(onReversed, 'second');
  expect(await paymentsOf('invoices')).toEqual(['first', null]);
  await call(onReversed, 'first');
  expect(await paymentsOf('invoices')).toEqual([null, null]);
});
