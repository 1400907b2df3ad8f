import type { Database, Queryable } from '../../../src/ledger/database/database.js';
import { databaseOutage } from '../../../src/ledger/database/database-fault.js';
import { openDatabase } from '../../../src/ledger/database/open-database.js';
import { findByIdempotencyKey, findIntent, historyOf } from '../../../src/ledger/intents/find-intents.js';
import { IntentRecorder } from '../../../src/ledger/intents/intent-recorder.js';
import { recordIntents, reserveIntents } from '../../../src/ledger/intents/record-intent.js';
import type { NewIntent, RecordedTerms } from '../../../src/ledger/ledger.js';
import { kinds, openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { ledgerTables } from '../../support/databases/ledger-rows.js';
import { eventually } from '../../support/eventually.js';

const times = { watchFirstMs: 2_000, watchMs: 30 * 86_400_000 };
const browser = new Uint8Array(32).fill(7);
const terms: RecordedTerms = {
  amount: '4.50',
  currency: 'usd',
  destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
  description: undefined,
  login: false,
  resource: undefined,
  metadata: {},
};

/** Values that the text form of an array must escape. */
const texts = [
  '',
  'NULL',
  '{}',
  '{a,b}',
  'a "quoted" \\ text',
  ' spaces ',
  "it's",
  'line\nbreak',
  '\u{1f375}',
  '\\x00',
];

const idOf = (number: number): string => `intent-${number}`;
const payment = (number: number, changes: Partial<RecordedTerms> = {}): NewIntent => ({
  id: idOf(number),
  terms: { ...terms, ...changes },
  browser,
});
const login = (number: number): NewIntent => ({ id: idOf(number), terms: undefined, browser });
const keyed = (intent: NewIntent, key: string) => ({
  intent,
  idempotency: { key, fingerprint: new Uint8Array(32).fill(1), sealedSecret: 'sealed' },
});
const numbers = Array.from({ length: 20 }, (_, number) => number);
const statusesOf = async (calls: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(calls)).map(({ status }) => status);

/** Calls `onQuery` with each statement and its result. */
function watched(db: Database, onQuery: (sql: string, result: Promise<unknown>) => void) {
  const query: Queryable['query'] = (sql, values) => {
    const result = db.query(sql, values);
    onQuery(sql, result);
    return result as ReturnType<Queryable['query']> as never;
  };
  return { query, isShared: db.isShared };
}

let database: TestDatabase;
let db: Database;

describe.each(kinds)('intents of concurrent requests on %s', (kind) => {
  beforeAll(async () => {
    database = await openTestDatabase(kind);
    db = database.db;
  });
  beforeEach(async () => {
    await db.query(`truncate ${ledgerTables}`);
  });

  const statementsFor = (count: number): number => (kind === 'postgres' ? 1 : count);

  test('without keys are recorded with their own terms, on Postgres by one statement', async () => {
    const statements: string[] = [];
    const recorder = new IntentRecorder(
      watched(db, (sql) => statements.push(sql)),
      times,
    );
    const changes = (number: number): Partial<RecordedTerms> => ({
      amount: `${number + 1}.00`,
      ...(number % 2 === 0 && { description: texts[number / 2] }),
      metadata: { order: number, text: texts[number % texts.length] },
    });
    const intents = numbers.map((number) => (number === 3 ? login(3) : payment(number, changes(number))));
    await Promise.all(intents.map((intent) => recorder.record(intent)));
    expect(statements).toHaveLength(statementsFor(20));
    for (const number of numbers) {
      const expected = number === 3 ? { kind: 'login' } : { kind: 'payment', ...changes(number) };
      expect(await findIntent(db, idOf(number))).toMatchObject({ state: 'created', ...expected });
    }
  });

  test('with keys are reserved and confirmed, on Postgres by one statement each', async () => {
    const statements: string[] = [];
    const recorder = new IntentRecorder(
      watched(db, (sql) => statements.push(sql)),
      times,
    );
    const keyOf = (number: number): string => `${number} ${texts[number % texts.length]}`;
    const reserved = numbers.map((number) => recorder.reserve(keyed(payment(number), keyOf(number))));
    expect(await Promise.all(reserved)).toEqual(numbers.map(() => true));
    await Promise.all(numbers.map((number) => recorder.confirm(idOf(number))));
    expect(statements).toHaveLength(2 * statementsFor(20));
    for (const number of numbers) {
      const expected = { id: idOf(number), state: 'created', terms };
      expect(await findByIdempotencyKey(db, browser, keyOf(number))).toMatchObject(expected);
    }
  });

  test('with the same key are reserved once', async () => {
    const recorder = new IntentRecorder(db, times);
    const all = await Promise.all(numbers.map((number) => recorder.reserve(keyed(payment(number), 'key'))));
    const winner = await findByIdempotencyKey(db, browser, 'key');
    expect(all.map((isReserved, number) => (isReserved ? idOf(number) : undefined)).filter(Boolean)).toEqual([
      winner?.id,
    ]);
  });

  test('are recorded if the database rejects another one', async () => {
    await recordIntents(db, [payment(7)], times);
    const recorder = new IntentRecorder(db, times);
    expect(await statusesOf(numbers.map((number) => recorder.record(payment(number))))).toEqual(
      numbers.map((number) => (number === 7 ? 'rejected' : 'fulfilled')),
    );
  });

  test('are confirmed if another one is missing, or already confirmed', async () => {
    const recorder = new IntentRecorder(db, times);
    await Promise.all([1, 2].map((number) => recorder.reserve(keyed(payment(number), `${number}`))));
    await recorder.confirm(idOf(1));
    const confirmed = [1, 2, 3, 2].map((number) => recorder.confirm(idOf(number)));
    expect(await statusesOf(confirmed)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    await expect(confirmed[2]).rejects.toMatchObject({ code: 'internal_error' });
    expect(await historyOf(db, idOf(2))).toHaveLength(1);
  });

  test('are recorded while the transaction of another caller is open', async () => {
    const recorder = new IntentRecorder(db, times);
    let inside: Promise<void> | undefined;
    const outside = numbers.map((number) => recorder.record(payment(number)));
    const transaction = db.transaction(async (tx) => {
      await tx.query('select 1');
      inside = recorder.record(payment(100));
      await inside.catch(() => undefined);
    });
    expect(await statusesOf([transaction, ...outside])).toEqual(['fulfilled', ...numbers.map(() => 'fulfilled')]);
    if (kind === 'postgres') await inside;
    else await expect(inside).rejects.toThrow('Deadlock: inside a transaction use `tx`');
  });
});

describe('on Postgres', () => {
  beforeAll(async () => {
    database = await openTestDatabase('postgres');
    db = database.db;
  });
  beforeEach(async () => {
    await db.query(`truncate ${ledgerTables}`);
  });

  test('a locked intent does not delay the confirmation of others', async () => {
    const recorder = new IntentRecorder(db, times);
    await Promise.all(numbers.map((number) => recorder.reserve(keyed(payment(number), `${number}`))));
    let locked: Promise<void> | undefined;
    await db.transaction(async (tx) => {
      await tx.query('select from express_intents.payments where intent_id = $1 for update', [idOf(5)]);
      const [five, others] = [recorder.confirm(idOf(5)), numbers.filter((number) => number !== 5)];
      locked = five;
      await Promise.all(others.map((number) => recorder.confirm(idOf(number))));
      expect(await findIntent(db, idOf(5))).toMatchObject({ state: 'creating' });
    });
    await locked;
    expect(await findIntent(db, idOf(5))).toMatchObject({ state: 'created', dueAt: expect.any(Date) });
  });

  test('two processes that receive the same keys in another order do not deadlock', async () => {
    const { settings } = database;
    const other = await openDatabase({ database: settings } as Parameters<typeof openDatabase>[0]);
    const errors: unknown[] = [];
    const noteError = (_sql: string, result: Promise<unknown>): void =>
      void result.catch((error) => errors.push(error));
    const [first, second] = [db, other].map((one) => new IntentRecorder(watched(one, noteError), times)) as [
      IntentRecorder,
      IntentRecorder,
    ];
    const keys = Array.from({ length: 60 }, (_, number) => `key ${number + 10}`);
    const reserve = (recorder: IntentRecorder, owner: string, theirs: readonly string[]) =>
      Promise.all(theirs.map((key) => recorder.reserve(keyed({ ...login(0), id: `${owner} ${key}` }, key))));
    // A transaction holds the middle key until both wait. Without sorting, each has then locked another half of the keys.
    const rollback = new Error('rollback');
    let reserving: Promise<boolean[][]> | undefined;
    const holding = db.transaction(async (tx) => {
      await reserveIntents(tx, [keyed(login(1), 'key 40')]);
      reserving = Promise.all([reserve(first, 'first', keys), reserve(second, 'second', keys.toReversed())]);
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await eventually('both wait', async () => (await db.query(waiting)).rowCount === 2);
      throw rollback;
    });
    await expect(holding).rejects.toBe(rollback);
    const [ofFirst, ofSecond] = (await reserving) ?? [];
    expect(ofFirst).toEqual(ofSecond?.toReversed().map((isReserved) => !isReserved));
    await other.close();
    expect(errors).toEqual([]);
  });
});

test('an outage of the database fails all waiting intents at once', async () => {
  let statements = 0;
  const query = async () => {
    statements += 1;
    throw databaseOutage('The database cannot be reached', new Error('connect ECONNREFUSED'));
  };
  const recorder = new IntentRecorder({ query, isShared: true }, times);
  const all = Array.from({ length: 600 }, (_, number) => recorder.record(payment(number)));
  expect(new Set(await statusesOf(all))).toEqual(new Set(['rejected']));
  await expect(all[599]).rejects.toMatchObject({ code: 'ledger_unavailable' });
  expect(statements).toBeLessThanOrEqual(2);
});
