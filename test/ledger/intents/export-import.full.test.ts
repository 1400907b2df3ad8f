import type { Database } from '../../../src/ledger/database/database.js';
import { exportLedger } from '../../../src/ledger/intents/export-ledger.js';
import { findByIdempotencyKey, findIntent, historyOf } from '../../../src/ledger/intents/find-intents.js';
import { importLedger } from '../../../src/ledger/intents/import-ledger.js';
import { listIntents } from '../../../src/ledger/intents/list-intents.js';
import { recordIntents, reserveIntents } from '../../../src/ledger/intents/record-intent.js';
import { retryIntent } from '../../../src/ledger/intents/retry-intent.js';
import type { RecordedTerms } from '../../../src/ledger/ledger.js';
import { findMissingHooks, recordHooks } from '../../../src/ledger/settlement/required-hooks.js';
import { openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { insertLogins, ledgerTables, move } from '../../support/databases/ledger-rows.js';

const times = { watchFirstMs: 2_000, watchMs: 30 * 86_400_000 };
const browser = new Uint8Array(32).map((_, index) => 250 - index);
const terms: RecordedTerms = {
  amount: '99999999999999999.90',
  currency: 'usd',
  exact: { exchangeRate: 0.1 + 0.2, quarks: '9223372036854775807' },
  destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
  description: 'quotes \' " and \\, \u{1f375}',
  login: true,
  resource: 'article:tea',
  metadata: { note: 'quotes \' " and \\, \n, \u2028, \u2029, \u0085, \u{1f375}', deep: [{ a: null }], big: 0.1 },
};
const idOf = (number: number): string => `intent${String(number).padStart(38, '1')}`;
const count = 1_203;

async function fill({ db }: TestDatabase): Promise<void> {
  await recordHooks(db, ['onPaid', 'verifyPayment']);
  await recordIntents(db, [{ id: idOf(1), terms, browser }], times);
  await move(db, idOf(1), ['submit', 'bury'], { error: 'Ach', hook: 'onPaid' });
  await db.query('update express_intents.payments set leased_until = now(), lease_token = 5');
  const key = { key: 'key', fingerprint: browser, sealedSecret: 'sealed' };
  await reserveIntents(db, [{ intent: { id: idOf(2), terms, browser }, idempotency: key }]);
  await recordIntents(db, [{ id: idOf(3), terms: undefined, browser }], times);
  await db.query(insertLogins(`select 'login' || number as id from generate_series(4, ${count}) number`));
}

async function linesOf({ db }: TestDatabase): Promise<string[]> {
  const lines: string[] = [];
  await exportLedger(db, async (line) => void lines.push(line));
  return lines;
}

/** Every column of every row, formatted by the database. */
async function everything({ db }: TestDatabase): Promise<unknown> {
  const rows: unknown[] = [];
  for (const table of ['intents', 'payments', 'logins', 'failures'])
    rows.push((await db.query(`select t::text as row from express_intents.${table} t order by 1`)).rows);
  const history = await db.query(
    `select intent_id, at::text, from_state, to_state, attempts from express_intents.history order by intent_id, number`,
  );
  return [...rows, history.rows];
}

describe.each([
  ['embedded', 'postgres'],
  ['postgres', 'embedded'],
] as const)('a ledger that moves from %s to %s', (from, to) => {
  let source: TestDatabase;
  let lines: string[];
  let target: TestDatabase;
  beforeAll(async () => {
    source = await openTestDatabase(from);
    await fill(source);
    lines = await linesOf(source);
    target = await openTestDatabase(to);
  });
  beforeEach(() => target.db.query(`truncate ${ledgerTables}`));

  it('keeps the recorded hooks: a process that lacks one settles no imported payment', async () => {
    await importLedger(target.db, lines);
    expect(await findMissingHooks(target.db, ['onReversed'])).toEqual(['onPaid', 'verifyPayment']);
  });

  it('without recorded hooks, from an earlier version, is imported', async () => {
    const [header = '', ...rest] = lines;
    const { hooks: _hooks, ...earlier } = JSON.parse(header);
    expect(await importLedger(target.db, [JSON.stringify(earlier), ...rest])).toBe(count);
  });

  it('has the same value in every column, except the leases', async () => {
    expect(lines).toHaveLength(count + 2);
    expect(await importLedger(target.db, lines)).toBe(count);
    await source.db.query('update express_intents.payments set leased_until = null');
    expect(await everything(target)).toEqual(await everything(source));
    expect(await findIntent(target.db, idOf(1))).toEqual(await findIntent(source.db, idOf(1)));
    expect(await linesOf(target)).toEqual(lines);
  });

  it('is exported in the same form if the database formats bytes in another way', async () => {
    const escaping: Database = {
      ...source.db,
      transaction: (work) =>
        source.db.transaction(async (tx) => {
          await tx.query('set transaction isolation level repeatable read');
          await tx.query(`set local bytea_output = 'escape'`);
          return work(tx);
        }),
    };
    expect(await linesOf({ ...source, db: escaping })).toEqual(lines);
  });

  it('keeps working: dead letters are retried, idempotency keys are known, the history grows', async () => {
    await importLedger(target.db, lines);
    expect(await findByIdempotencyKey(target.db, browser, 'key')).toMatchObject({
      id: idOf(2),
      sealedSecret: 'sealed',
    });
    expect(await retryIntent(target.db, idOf(1), times.watchMs)).toBe(true);
    const path = (await historyOf(target.db, idOf(1))).map(({ to: state }) => state);
    expect(path).toEqual(['submitted', 'dead', 'submitted']);
  });

  it('has a payment that is polled for the longest time that the configuration allows', async () => {
    const watchMs = 36_500 * 86_400_000;
    await recordIntents(target.db, [{ id: idOf(9), terms, browser }], { ...times, watchMs });
    const exported = await linesOf(target);
    await target.db.query(`truncate ${ledgerTables}`);
    expect(await importLedger(target.db, exported)).toBe(1);
  });

  const withIn = (place: number, member: string, column: string, value: unknown) => (all: string[]) => {
    const line = JSON.parse(all[place] as string);
    return all.with(place, JSON.stringify({ ...line, [member]: { ...line[member], [column]: value } }));
  };
  const without = (place: number) => (all: string[]) => all.toSpliced(place, 1);
  it.each<[string, (all: string[]) => string[], string]>([
    ['a truncated file', without(-1), 'or its number is wrong. Nothing was imported. Export the ledger again.'],
    ['a file without its first line', without(0), 'first line'],
    ['another file', () => ['name,amount', 'tea,4.50'], 'invalid line: name,amount'],
    [
      'a file of an unknown version of the tables',
      (all) => ['{"ledger":"express-intents","schemaVersion":99}', ...all.slice(1)],
      'migration 99',
    ],
    ['a file with an intent twice', (all) => [...all.slice(0, 2), ...all.slice(1)], 'already exists'],
    [
      'a broken line',
      (all) => all.with(3, '{"intent": {'),
      'Line 4 is not valid output of `ledger export`: it is not JSON',
    ],
    [
      'an invalid amount',
      withIn(2, 'intent', 'amount', 'NaN'),
      'Line 3 is not valid output of `ledger export`: intent.amount',
    ],
    ['a rate that is not a number', withIn(2, 'intent', 'exchange_rate', 'NaN'), 'intent.exchange_rate'],
    ['an infinite time', withIn(2, 'payment', 'due_at', 'infinity'), 'payment.due_at'],
    ['an invalid count', withIn(2, 'payment', 'attempts', -1), 'payment.attempts'],
    ['two files in one', (all) => [...all, ...all], 'after the closing line'],
  ])('imports nothing from %s', async (_what, change, message) => {
    await expect(importLedger(target.db, change(lines))).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(message),
    });
    expect((await listIntents(target.db, {})).intents).toEqual([]);
  });

  it('is imported into newer tables, with defaults for new columns, and not into older ones', async () => {
    const { db } = target;
    await db.query(`alter table express_intents.payments add column channel text not null default 'web'`);
    await db.query(`insert into express_intents.schema_versions (version, name) values (98, 'channel')`);
    try {
      expect(await importLedger(db, lines)).toBe(count);
      const { rows } = await db.query('select distinct channel from express_intents.payments');
      expect(rows).toEqual([{ channel: 'web' }]);
      const newer = await linesOf(target);
      expect(JSON.parse(newer[0] ?? '')).toMatchObject({ schemaVersion: 98 });
      await expect(importLedger(source.db, newer)).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('migration 98'),
      });
    } finally {
      await db.query('alter table express_intents.payments drop column channel');
      await db.query('delete from express_intents.schema_versions where version = 98');
    }
  });

  it('is added to existing rows', async () => {
    await recordIntents(target.db, [{ id: idOf(9), terms, browser }], times);
    expect(await importLedger(target.db, lines)).toBe(count);
    expect(await findIntent(target.db, idOf(9))).toBeDefined();
    await expect(importLedger(target.db, lines)).rejects.toMatchObject({ code: 'invalid_request' });
  });
});
