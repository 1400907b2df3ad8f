import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseTransaction, Payment } from 'express-intents';
import { root } from '../package/consumer-project.js';
import { openTestDatabase, type TestDatabase } from '../support/databases/databases.js';
import { guides, textOf } from './guides.js';

// A payment that is submitted again after a reversal calls `onPaid` a second time: "Reversals" in docs/hooks.md.

type OnPaid = (payment: Partial<Payment>, context: { tx: DatabaseTransaction }) => Promise<void>;

/** The `onPaid` hooks of a text that insert an order. */
const hooksOf = (text: string): OnPaid[] =>
  [...text.matchAll(/onPaid: (async \(.*\) => \{\n[\s\S]*?\n *\})/g)]
    .map(([, hook = '']) => hook)
    .filter((hook) => hook.includes('insert into'))
    .map((hook) => new Function(`return ${hook}`)() as OnPaid);

const examples = readdirSync(join(root, 'docs/examples'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.[jt]s$/.test(name) && !name.includes('node_modules'))
  .map((name) => `docs/examples/${name}`);

const hooks = [...guides, ...examples].flatMap((path) => hooksOf(textOf(path)).map((hook) => [path, hook] as const));

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase('embedded');
  await database.db.query(
    'create table public.orders (id text primary key, item text, article text, user_id text, payment text)',
  );
  for (const [table, key] of [
    ['mails_to_send', 'order_id'],
    ['second_payments', 'id'],
  ])
    await database.db.query(`create table public.${table} (${key} text primary key)`);
});

test('the hooks of the guides and of six examples are found', () => {
  expect(hooks.filter(([path]) => path.startsWith('docs/examples/'))).toHaveLength(6);
  expect(hooks.map(([path]) => path)).toEqual(
    expect.arrayContaining(['docs/getting-started.md', 'docs/hooks.md', 'docs/logins.md', 'docs/payments.md']),
  );
});

test.each(hooks)('%s: onPaid accepts a payment that already has an order', async (path, onPaid) => {
  // The hook of docs/payments.md marks an order that exists.
  await database.db.query('insert into public.orders (id) values ($1)', [`order of ${path}`]);
  const payment = { id: `payment of ${path}`, metadata: { order: `order of ${path}` } };
  for (const _ of [1, 2]) await database.db.transaction((tx) => onPaid(payment, { tx }));
  expect((await database.db.query('select id from public.second_payments')).rows).toEqual([]);
});
