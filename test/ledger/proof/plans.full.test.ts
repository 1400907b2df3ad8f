import { setTimeout as wait } from 'node:timers/promises';
import type { Database, DatabaseTransaction, Queryable } from '../../../src/ledger/database/database.js';
import { canCompleteLogin, completeLoginOnce, reopenLogin } from '../../../src/ledger/intents/complete-login.js';
import { exportLedger } from '../../../src/ledger/intents/export-ledger.js';
import { findIntent, findPaymentsFor, historyOf, listIntents } from '../../../src/ledger/intents/find-intents.js';
import { pruneIntents } from '../../../src/ledger/intents/prune-intents.js';
import {
  confirmIntent,
  findRepeated,
  findSealedSecret,
  recordIntent,
  reserveIntent,
  retryIntent,
} from '../../../src/ledger/intents/record-intent.js';
import { intentStates } from '../../../src/ledger/ledger.js';
import {
  claimDue,
  claimNamed,
  correctDueTimes,
  findUnpaid,
  inspectBacklog,
  releaseClaims,
} from '../../../src/ledger/settlement/claim-payments.js';
import { type ClaimedPayment, holdLease, updateClaimed } from '../../../src/ledger/settlement/claimed-payment.js';
import { defaultTiming } from '../../../src/ledger/settlement/settlement-timing.js';
import { openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { statementName, statementNames } from './statement-name.js';

// What a statement costs is what it finds, however much there is beside: each is run by EXPLAIN ANALYZE in tables with much
// of everything in them.

const intents = 41_000;
/** Of one browser, which has begun a payment for the same thing again and again. */
const begun = 12_000;
/** More than the most that a statement is for, which is the thousand that `inspect` counts of each kind; and far less than there is. */
const most = 2_500;

/** Nine of ten have settled long ago, and the oldest are kept for what they have unlocked. */
const fill = `
insert into express_intents.intents (id, kind, amount, currency, destination, resource, browser, idempotency_key, fingerprint,
    sealed_secret, created_at, state, submitted_at, settled_at, due_at, watch_until, scheduled_at)
  select 'intent' || lpad(n::text, 38, 'x'), 'payment', 4.5, 'usd', 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
    case when n % 3 = 0 or n > 36000 then 'tea' || n % 9 end, decode(lpad(to_hex(n % 5000), 64, '0'), 'hex'), 'key' || n, '\\x07',
    'sealed', now() - n * interval '3 minutes',
    case n % 40 when 1 then 'open' when 2 then 'expired' when 3 then 'dead' when 4 then 'reversed' else 'settled' end,
    now(), now(), case when n % 40 = 1 then now() + n * interval '1 second' end, now() + interval '30 days',
    now() + case when n % 40 = 1 then interval '1 hour' else '0' end
  from generate_series(1, ${intents}) n;
insert into express_intents.intents (id, kind, amount, currency, destination, resource, browser, state, due_at, watch_until)
  select 'begun' || lpad(n::text, 39, 'x'), 'payment', 4.5, 'usd', 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR', 'book',
    decode(repeat('09', 32), 'hex'), 'open', now() - n * interval '1 millisecond', now() + interval '30 days'
  from generate_series(1, ${begun}) n;
insert into express_intents.intents (id, kind, browser, state, created_at)
  select 'login' || lpad(n::text, 39, 'x'), 'login', decode(lpad(to_hex(n), 64, '0'), 'hex'), 'open', now() - n * interval '2 minutes'
  from generate_series(1, 3000) n;
insert into express_intents.history (intent_id, from_state, to_state, attempts)
  select 'intent' || lpad(n::text, 38, 'x'), 'open', 'submitted', 0 from generate_series(1, ${intents}) n, generate_series(1, 4);
analyze express_intents.intents, express_intents.history`;

const idOf = (number: number): string => `intent${String(number).padStart(38, 'x')}`;
const begunId = (number: number): string => `begun${String(number).padStart(39, 'x')}`;
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

/** What is too much about a plan; nothing where its cost is that of what it finds. */
function faultsOf(plan: PlanNode): string[] {
  const nodes = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodes)];
  const faults = nodes(plan).flatMap((node) => {
    const { 'Node Type': type, 'Relation Name': table, 'Index Name': index, 'Actual Loops': loops } = node;
    if (table === undefined && index === undefined) return [];
    const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
    const examined = (node['Actual Rows'] + removed) * loops;
    const where = `${type} of ${index ?? table}`;
    return [
      ...(type === 'Seq Scan' && loops > 0 ? [where] : []),
      ...(examined > most ? [`${where} looks at ${examined} rows`] : []),
    ];
  });
  // An index can be gone over from end to end, and no row be counted.
  const blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  return blocks > 20 * most ? [...faults, `${blocks} blocks`] : faults;
}

type Faults = Map<string, readonly string[]>;

/** A database that explains each statement before it runs it, and notes what is too much about it. */
function explaining(db: Database, faults: Faults): Database {
  const explain = async (tx: Queryable, sql: string, values?: readonly unknown[]): Promise<void> => {
    const name = statementName(sql);
    const isPlanned = /^\s*(select|insert|update|delete|with)\b/.test(sql) && name !== 'announce';
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
      // All of this is one transaction, which has begun.
      return statementName(sql) === 'read all of one moment' ? { rows: [], rowCount: 0 } : tx.query(sql, values);
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

/** Everything that is asked of a ledger, once, and nothing of it stays. */
async function askEverything(real: Database): Promise<Faults> {
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
    await askPages(db);
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
  await recordIntent(db, { id: 'a', ...newIntent }, watch);
  const key = { key: 'key', fingerprint: collector, sealedSecret: 'sealed' };
  await reserveIntent(db, { id: 'b', ...newIntent }, key);
  expect(await reserveIntent(db, { id: 'c', ...newIntent }, key)).toBe(false);
  await confirmIntent(db, 'b', watch);
  await confirmIntent(db, 'b', watch);
  expect(await findRepeated(db, browserOf(7), 'key7')).toMatchObject({ id: idOf(7) });
  expect(await findSealedSecret(db, idOf(7), browserOf(7))).toBe('sealed');
  const login = { id: loginId(7), browser: browserOf(7), ttlMs: 3_600_000 };
  expect(await canCompleteLogin(db, login.id, login.browser, login.ttlMs)).toBe(true);
  expect(await completeLoginOnce(db, { ...login, userId: 'u' }, async () => undefined)).toBe(true);
  await reopenLogin(db, login.id);
  expect(await findIntent(db, idOf(7))).toBeDefined();
  expect(await historyOf(db, idOf(7))).toHaveLength(4);
  expect(await retryIntent(db, idOf(3), 1_000)).toBe(true);
  expect(await findPaymentsFor(db, collector, 'book')).toHaveLength(20);
  expect(await findPaymentsFor(db, browserOf(6), 'tea6')).not.toEqual([]);
}

async function askWork(db: Database): Promise<void> {
  expect(await correctDueTimes(db)).toBe(true);
  const [first, second] = (await claimDue(db, { first: 6, retry: 1, slow: 1, alone: 1 }, defaultTiming)) as [
    ClaimedPayment,
    ClaimedPayment,
  ];
  expect(await claimNamed(db, [begunId(1), begunId(2_999)], defaultTiming)).not.toEqual([]);
  expect(await findUnpaid(db, [begunId(1), idOf(7)])).toEqual([begunId(1)]);
  const lease = holdLease(db, second, 60);
  await wait(100);
  lease.stop();
  expect(lease.signal.aborted).toBe(false);
  await releaseClaims(db, [second]);
  // As all writes of a work are, whatever becomes of it: of one row, by its id and its lease.
  await updateClaimed(db, first, `state = 'submitted', submitted_at = now()`);
}

async function askPages(db: Database): Promise<void> {
  for (const state of [undefined, ...intentStates]) {
    const { next } = await listIntents(db, { state });
    if (next) await listIntents(db, { state, after: next });
  }
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

/** What the tests of migrations ask; what is asked once by a ledger in a folder; writes as `updateClaimed` has them; and what goes in. */
const elsewhere = [
  ...[
    'look for migrations',
    'lock for the migration',
    'bound the wait for locks',
    'look for the schema',
    'create the schema',
  ],
  ...['create the migrations table', 'create the tables', 'note the migration'],
  ...['end claims', 'announce', 'write the effect'],
  ...[
    'look later',
    'expire',
    'take back',
    'begin the hook',
    'hook not called',
    'quarantine',
    'hook failed',
    'bury',
    'settle',
    'reverse',
  ],
  ...['look for a reversal', 'doubt', 'take up what was reversed', 'end the watch', 'reopen what expired too early'],
  ...['import', 'import the history', 'look for columns'],
];

describe(`beside ${intents} intents`, () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase('postgres');
    for (const statement of fill.split(/;\n/)) await database.db.query(statement);
  });

  test('every statement of the ledger costs what it finds', async () => {
    const faults = await askEverything(database.db);
    expect([...faults].filter(([, found]) => found.length > 0)).toEqual([]);
    expect([...faults.keys(), ...elsewhere].sort()).toEqual([...statementNames].sort());
  });

  test.each([
    'intents_due',
    'intents_scheduled',
    'intents_list',
    'intents_state',
    'intents_finished',
    'intents_resource',
    'history_intent',
  ])('and that is seen: without %s one costs more', async (index) => {
    const { db } = database;
    const { rows } = await db.query<{ definition: string }>(
      `select pg_get_indexdef(('express_intents.' || $1)::regclass) as definition`,
      [index],
    );
    await db.query(`drop index express_intents.${index}`);
    const faults = await askEverything(db).finally(() => db.query(`${rows[0]?.definition}`));
    expect([...faults].filter(([, found]) => found.length > 0)).not.toEqual([]);
  });
});
