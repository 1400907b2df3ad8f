import { setTimeout as wait } from 'node:timers/promises';
import type { Database, DatabaseTransaction, Queryable } from '../../../src/ledger/database/database.js';
import {
  canCompleteLogin,
  completeLoginOnce,
  findCompletion,
  recordUserId,
  reopenLogin,
} from '../../../src/ledger/intents/complete-login.js';
import { exportLedger } from '../../../src/ledger/intents/export-ledger.js';
import {
  findByIdempotencyKey,
  findForBrowser,
  findIntent,
  findPaymentsFor,
  historyOf,
} from '../../../src/ledger/intents/find-intents.js';
import { listIntents } from '../../../src/ledger/intents/list-intents.js';
import { pruneIntents } from '../../../src/ledger/intents/prune-intents.js';
import {
  confirmIntent,
  confirmIntents,
  recordIntents,
  reserveIntents,
} from '../../../src/ledger/intents/record-intent.js';
import { retryIntent } from '../../../src/ledger/intents/retry-intent.js';
import { intentStates, type ListOptions } from '../../../src/ledger/ledger.js';
import {
  claimDue,
  claimUnpaid,
  correctDueTimes,
  findUnpaid,
  inspectBacklog,
  releaseClaims,
} from '../../../src/ledger/settlement/claim-payments.js';
import { updateClaimed } from '../../../src/ledger/settlement/claim-writes.js';
import { type ClaimedPayment, holdLease } from '../../../src/ledger/settlement/claimed-payment.js';
import { findMissingHooks, forgetHook, recordHooks } from '../../../src/ledger/settlement/required-hooks.js';
import { defaultTiming } from '../../../src/ledger/settlement/settlement-timing.js';
import { openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { startPostgres } from '../../support/databases/postgres-server.js';
import { statementName, statementNames } from './statement-name.js';

// The cost of a statement depends only on the rows that it returns, however large the tables are: each is run by EXPLAIN
// ANALYZE in large tables.

const intents = 41_000;
/** The payments of one browser for the same resource. */
const created = 12_000;
/** The limit of rows: more than any statement returns (`inspect` counts up to a thousand of each kind), and far less than the tables have. */
const most = 2_500;

/** Nine of ten have settled long ago; the oldest are kept for the resources that they unlock. */
const fill = `
create temporary table given as select 'intent' || lpad(n::text, 38, 'x') as id, n, now() - n * interval '3 minutes' as at,
  case when n % 3 = 0 or n > 36000 then 'tea' || n % 9 end as resource, decode(lpad(to_hex(n % 5000), 64, '0'), 'hex') as browser,
  case n % 40 when 1 then 'created' when 2 then 'expired' when 3 then 'dead' when 4 then 'reversed' else 'settled' end as state
  from generate_series(1, ${intents}) n;
insert into express_intents.intents (id, kind, amount, currency, destination, resource, browser, idempotency_key, fingerprint,
    sealed_secret, created_at, metadata, login)
  select id, 'payment', 4.5, 'usd', 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR', resource, browser, 'key' || n, '\\x07', 'sealed',
    at, jsonb_build_object('order', n, 'shop', 'tea'), n % 3 < 2 from given;
insert into express_intents.payments (intent_id, created_at, resource, browser, state, submitted_at, settled_at, due_at, watch_until,
    due_set_at)
  select id, at, resource, case when resource is not null then browser end, state, now(), now(),
    case when n % 40 = 1 then now() + n * interval '1 second' end, now() + case when n % 40 = 1 then interval '30 days' else '0' end,
    now() + case when n % 40 = 1 then interval '1 hour' else '0' end from given;
insert into express_intents.logins (intent_id, created_at, state, user_id)
  select id, at, 'created', case when n % 3 = 0 then 'regular' else 'user' || n end from given where n % 3 < 2;
insert into express_intents.failures (intent_id, error) select id, 'Error' from given where n % 4 = 3;
insert into express_intents.intents (id, kind, amount, currency, destination, resource, browser, metadata)
  select 'begun' || lpad(n::text, 39, 'x'), 'payment', 4.5, 'usd', 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR', 'book',
    decode(repeat('09', 32), 'hex'), '{"shop": "tea"}' from generate_series(1, ${created}) n;
insert into express_intents.payments (intent_id, resource, browser, state, due_at, watch_until)
  select id, resource, browser, 'created', now() - row_number() over () * interval '1 millisecond', now() + interval '30 days'
  from express_intents.intents where resource = 'book';
insert into express_intents.intents (id, kind, browser, created_at)
  select 'login' || lpad(n::text, 39, 'x'), 'login', decode(lpad(to_hex(n), 64, '0'), 'hex'), now() - n * interval '2 minutes'
  from generate_series(1, 3000) n;
insert into express_intents.logins (intent_id, created_at, state, completed_at, user_id)
  select id, created_at, case n % 2 when 0 then 'completed' else 'created' end, case n % 2 when 0 then created_at end,
    case n % 2 when 0 then 'guest' || n end
  from (select *, replace(substring(id from 6), 'x', '')::int as n from express_intents.intents where kind = 'login') l;
insert into express_intents.history (intent_id, from_state, to_state, attempts)
  select id, 'created', 'submitted', 0 from given, generate_series(1, 4);
analyze express_intents.intents, express_intents.payments, express_intents.logins, express_intents.failures,
  express_intents.history`;

const idOf = (number: number): string => `intent${String(number).padStart(38, 'x')}`;
const createdId = (number: number): string => `begun${String(number).padStart(39, 'x')}`;
const loginId = (number: number): string => `login${String(number).padStart(39, 'x')}`;
const browserOf = (number: number): Uint8Array => Buffer.from((number % 5_000).toString(16).padStart(64, '0'), 'hex');
const collector = new Uint8Array(32).fill(9);

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

/** The nodes of a plan that read more rows than the limit. */
function faultsOf(plan: PlanNode): string[] {
  const nodes = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodes)];
  const faults = nodes(plan).flatMap((node) => {
    const { 'Node Type': type, 'Relation Name': table, 'Index Name': index, 'Actual Loops': loops } = node;
    if (table === undefined && index === undefined) return [];
    const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
    const examined = (node['Actual Rows'] + removed) * loops;
    const where = `${type} of ${index ?? table}`;
    // `required_hooks` has at most three rows.
    const isScanned = type === 'Seq Scan' && loops > 0 && table !== 'required_hooks';
    return [...(isScanned ? [where] : []), ...(examined > most ? [`${where} reads ${examined} rows`] : [])];
  });
  // A full scan of an index counts no rows.
  const blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  return blocks > 20 * most ? [...faults, `${blocks} blocks`] : faults;
}

type Faults = Map<string, readonly string[]>;

/** A database that explains each statement before it runs it, and records the nodes that read too much. */
function explaining(db: Database, faults: Faults): Database {
  const explain = async (tx: Queryable, sql: string, values?: readonly unknown[]): Promise<void> => {
    const name = statementName(sql);
    const isPlanned = /^\s*(select|insert|update|delete|with)\b/.test(sql) && name !== 'notify';
    if (!isPlanned) return void faults.set(name, []);
    await tx.query('savepoint explained');
    const { rows } = await tx.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze, buffers, timing off, format json) ${sql}`,
      values,
    );
    await tx.query('rollback to savepoint explained');
    const found = rows.flatMap((row) => faultsOf(row['QUERY PLAN'][0].Plan));
    faults.set(name, [...(faults.get(name) ?? []), ...found]);
  };
  const inTransaction = (tx: DatabaseTransaction): DatabaseTransaction => ({
    client: tx.client,
    query: async (sql, values) => {
      await explain(tx, sql, values);
      // The transaction has begun: all of this is one.
      return statementName(sql) === 'set the isolation level' ? { rows: [], rowCount: 0 } : tx.query(sql, values);
    },
  });
  return {
    isShared: db.isShared,
    query: (sql, values) => db.transaction((tx) => inTransaction(tx).query(sql, values)),
    transaction: (work) => db.transaction((tx) => work(inTransaction(tx))),
    close: () => db.close(),
  };
}

const newIntent = { terms: undefined, browser: collector };
const watch = { watchFirstMs: 3_600_000, watchMs: 3_600_000 };

/** Runs every statement of a ledger once, and rolls back. */
async function runEverything(real: Database): Promise<Faults> {
  const faults: Faults = new Map();
  class Undone extends Error {}
  const undone = real.transaction(async (tx) => {
    await tx.query(`set local statement_timeout = '2s'`);
    const one: Database = {
      isShared: true,
      query: (sql, values) => tx.query(sql, values),
      transaction: (work) => work(tx),
      close: async () => undefined,
    };
    const db = explaining(one, faults);
    await askRecords(db);
    await askWork(db);
    await readPages(db);
    throw new Undone();
  });
  await undone.catch((error) => {
    if (error instanceof Undone) return;
    if (error.code !== 'ledger_unavailable') throw error;
    faults.set('broken off', [error.message]);
  });
  return faults;
}

async function askRecords(db: Database): Promise<void> {
  await recordIntents(db, [{ id: 'a', ...newIntent }], watch);
  const key = { key: 'key', fingerprint: collector, sealedSecret: 'sealed' };
  const reservation = (id: string) => ({ intent: { id, ...newIntent }, idempotency: key });
  expect(await reserveIntents(db, [reservation('b'), reservation('c')])).toEqual([true, false]);
  expect(await confirmIntents(db, ['b', 'missing'], watch)).toEqual([true, false]);
  await confirmIntent(db, 'b', watch);
  expect(await findByIdempotencyKey(db, browserOf(7), 'key7')).toMatchObject({ id: idOf(7) });
  expect(await findForBrowser(db, idOf(7), browserOf(7))).toEqual({ sealedSecret: 'sealed', description: undefined });
  const login = { id: loginId(7), browser: browserOf(7), ttlMs: 3_600_000, key: 'k' };
  expect(await canCompleteLogin(db, login.id, login.browser, login.ttlMs)).toBe(true);
  expect(await completeLoginOnce(db, { ...login, userId: 'u' }, async () => undefined)).toBe(true);
  expect(await findCompletion(db, { ...login, key: 'other' }, login.ttlMs)).toEqual({
    userId: 'u',
    isSameRequest: false,
  });
  await reopenLogin(db, login.id, login.key);
  expect(await findCompletion(db, login, login.ttlMs)).toBeUndefined();
  expect(await findIntent(db, idOf(7))).toBeDefined();
  expect(await historyOf(db, idOf(7))).toHaveLength(4);
  expect(await retryIntent(db, idOf(2), 1_000)).toBe(true);
  expect(await findPaymentsFor(db, collector, 'book')).toHaveLength(20);
  expect(await findPaymentsFor(db, browserOf(6), 'tea6')).not.toEqual([]);
}

async function askWork(db: Database): Promise<void> {
  expect(await correctDueTimes(db)).toBe(true);
  const [first, second] = (await claimDue(
    db,
    { first: 6, retry: 1, slow: 1, quarantine: 1 },
    { timing: defaultTiming, hooks: [] },
  )) as [ClaimedPayment, ClaimedPayment];
  expect(await claimUnpaid(db, [createdId(1), createdId(2_999)], { timing: defaultTiming, hooks: [] })).not.toEqual([]);
  expect(await findUnpaid(db, [createdId(1), idOf(7)])).toEqual([createdId(1)]);
  const lease = holdLease(db, second, 60);
  await wait(100);
  lease.stop();
  expect(lease.signal.aborted).toBe(false);
  for (const skipsLocked of [false, true]) await releaseClaims(db, [second], { skipsLocked });
  // Like all writes of a claimed payment: one row, by its id and lease token.
  await updateClaimed(db, first, 'submit', { due_ms: 0, watch_ms: 1_000 });
  await recordUserId(db, idOf(7), 'u');
}

const createdFrom = new Date(Date.now() - 80 * 86_400_000);
const createdBefore = new Date(Date.now() - 10 * 86_400_000);
const otherFilters: readonly ListOptions[] = [
  { kind: 'login' },
  { kind: 'login', state: 'created' },
  { kind: 'payment', state: 'settled' },
  { userId: 'user7' },
  { userId: 'regular' },
  { userId: 'regular', state: 'dead' },
  { userId: 'unknown', kind: 'login' },
  { metadata: { order: 7 } },
  { metadata: { order: 7 }, state: 'settled' },
  { metadata: { order: -7 } },
  { metadata: { shop: 'tea' } },
  { metadata: { shop: 'tea', order: 7 }, userId: 'user7' },
  { createdFrom, createdBefore },
  { createdFrom, createdBefore, state: 'expired' },
  { createdFrom, createdBefore, kind: 'login' },
  { createdFrom, createdBefore, metadata: { order: 7 } },
  { createdFrom: new Date(), kind: 'login' },
];

async function readPages(db: Database): Promise<void> {
  const filters: ListOptions[] = [{}, ...intentStates.map((state) => ({ state })), ...otherFilters];
  for (const filter of filters) {
    const { next } = await listIntents(db, filter);
    if (next) await listIntents(db, { ...filter, after: next });
  }
  await recordHooks(db, ['onPaid']);
  await findMissingHooks(db, []);
  await forgetHook(db, 'onPaid');
  expect(await inspectBacklog(db)).toMatchObject({ due: 1_000, deadLetters: 1_000 });
  const olderThan = new Date(Date.now() - 30 * 86_400_000);
  let batches = 0;
  class Enough extends Error {}
  const enough = (error: unknown): void => {
    if (!(error instanceof Enough)) throw error;
  };
  const archive = (): void => {
    batches += 1;
    if (batches === 3) throw new Enough();
  };
  await pruneIntents(db, { olderThan, archive }).catch(enough);
  batches = 0;
  await pruneIntents(db, { olderThan, archive, includeResources: true }).catch(enough);
  expect(batches).toBe(3);
  let lines = 0;
  const write = async (): Promise<void> => {
    lines += 1;
    if (lines === 1_200) throw new Enough();
  };
  await exportLedger(db, write).catch(enough);
}

/** Statements outside of this test: those of migrations, of the start of an embedded ledger, and of imports. */
const elsewhere = [
  ...['find migrations', 'lock for the migration', 'set the lock timeout', 'find the schema', 'create the schema'],
  ...['create the migrations table', 'run a migration', 'record the migration'],
  ...['release all claims', 'notify', 'write the effect', 'probe'],
  // They read or write one row, by its id.
  ...['read the outcome of the login', 'read the outcome of the write', 'retryPaid', 'retryReversed'],
  ...['expire', 'resume', 'reopen', 'settle', 'reverse', 'payAgain', 'bury'],
  ...['poll', 'fail', 'startHook', 'quarantine', 'endWatch', 'suspect', 'trust'],
  ...['import', 'import the history', 'find columns'],
];

describe(`a ledger with ${intents} intents`, () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase('postgres');
    const { rows } = await database.db.query<{ name: string }>('select current_database() as name');
    // Without the timeouts of the ledger: a busy machine may take longer.
    await (await startPostgres()).run(rows[0]?.name ?? '', fill);
  });

  test('runs every statement at the cost of the rows that it returns', async () => {
    const faults = await runEverything(database.db);
    expect([...faults].filter(([, found]) => found.length > 0)).toEqual([]);
    expect([...faults.keys(), ...elsewhere].sort()).toEqual([...statementNames].sort());
  });

  test('confirms intents by their ids', async () => {
    const plans: string[] = [];
    const query: Queryable['query'] = async (sql, values) => {
      const { rows } = await database.db.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, values);
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
      return database.db.query(sql, values);
    };
    for (const count of [1, 64]) {
      const ids = Array.from({ length: count }, (_, number) => `missing ${number}`);
      await confirmIntents({ query }, ids, watch);
    }
    await confirmIntent({ query }, 'missing', watch).catch(() => undefined);
    const [one, many, alone] = plans.map((plan) => new Set(plan.match(/\w+_pkey|Seq Scan/g)));
    expect([one, many, alone]).toEqual([1, 2, 3].map(() => new Set(['payments_pkey', 'logins_pkey'])));
  });

  test.each([
    'payments_due',
    'payments_due_set',
    'payments_listed',
    'payments_resource',
    'intents_list',
    'intents_metadata',
    'logins_user',
  ])('exceeds that cost without %s, which proves the check', async (index) => {
    const { db } = database;
    const { rows } = await db.query<{ definition: string }>(
      `select pg_get_indexdef(('express_intents.' || $1)::regclass) as definition`,
      [index],
    );
    await db.query(`drop index express_intents.${index}`);
    const faults = await runEverything(db).finally(() => db.query(`${rows[0]?.definition}`));
    expect([...faults].filter(([, found]) => found.length > 0)).not.toEqual([]);
  });
});
