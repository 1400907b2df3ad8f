import { findIntent, historyOf } from '../../../src/ledger/intents/find-intents.js';
import { pruneIntents } from '../../../src/ledger/intents/prune-intents.js';
import { recordIntents, reserveIntents } from '../../../src/ledger/intents/record-intent.js';
import type { ArchivedIntent, RecordedTerms } from '../../../src/ledger/ledger.js';
import type { TransitionName } from '../../../src/ledger/transitions.js';
import { kinds, openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { insertLogins, ledgerTables, move } from '../../support/databases/ledger-rows.js';

const times = { watchFirstMs: 2_000, watchMs: 30 * 86_400_000 };
const browser = new Uint8Array(32).fill(7);
const terms: RecordedTerms = {
  amount: '4.50',
  currency: 'usd',
  destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
  description: undefined,
  login: false,
  resource: undefined,
  metadata: { order: 42 },
};
const olderThan = new Date('2026-06-01T00:00:00Z');

describe.each(kinds)('pruneIntents on %s', (kind) => {
  let database: TestDatabase;
  const idOf = (name: string): string => name.padEnd(44, 'x');
  beforeAll(async () => {
    database = await openTestDatabase(kind, { fakeTime: true });
  });
  beforeEach(async () => {
    await database.db.query(`truncate ${ledgerTables}`);
    await database.setTime('2026-01-01T12:00:00Z');
  });

  async function payment(
    name: string,
    path: readonly TransitionName[],
    changes: Partial<RecordedTerms> = {},
  ): Promise<void> {
    await recordIntents(database.db, [{ id: idOf(name), terms: { ...terms, ...changes }, browser }], times);
    for (const step of path) {
      await move(database.db, idOf(name), [step], { due_ms: step === 'settle' ? null : 0, error: 'Ach' });
    }
  }
  const set = (name: string, changes: string) =>
    database.db.query(`update express_intents.payments set ${changes} where intent_id = $1`, [idOf(name)]);
  const left = async (): Promise<string[]> => {
    const { rows } = await database.db.query<{ id: string }>('select id from express_intents.intents order by id');
    return rows.map(({ id }) => id.replace(/x+$/, ''));
  };

  it('keeps an expired intent while a process rechecks it, which may find it paid', async () => {
    for (const name of ['free', 'claimed', 'left behind']) await payment(name, ['expire', 'endWatch']);
    await database.setTime('2026-07-01T12:00:00Z');
    await set('claimed', `leased_until = now() + interval '30 seconds'`);
    await set('left behind', `leased_until = now() - interval '1 second'`);
    expect(await pruneIntents(database.db, { olderThan })).toBe(2);
    expect(await left()).toEqual(['claimed']);
  });

  it('deletes finished intents with their history, and nothing else', async () => {
    await payment('settled', ['submit', 'settle']);
    await payment('reversed', ['submit', 'settle', 'reverse']);
    await payment('late', ['expire', 'endWatch']);
    await payment('dead', ['submit', 'bury']);
    await payment('created', []);
    await payment('submitted', ['submit']);
    await payment('polled', ['submit', 'settle']);
    await set('polled', 'due_at = now()');
    await payment('article', ['submit', 'settle'], { resource: 'tea' });
    await recordIntents(database.db, [{ id: idOf('login'), terms: undefined, browser }], times);
    const key = { key: 'key', fingerprint: browser, sealedSecret: 'sealed' };
    await reserveIntents(database.db, [{ intent: { id: idOf('unsure'), terms, browser }, idempotency: key }]);
    await database.setTime('2026-07-01T12:00:00Z');
    await move(database.db, idOf('reversed'), ['endWatch']);
    await payment('young', ['submit', 'settle']);

    expect(await pruneIntents(database.db, { olderThan })).toBe(5);
    expect(await left()).toEqual(['article', 'created', 'dead', 'polled', 'submitted', 'young']);
    expect(await historyOf(database.db, idOf('settled'))).toEqual([]);
    expect(await historyOf(database.db, idOf('article'))).toHaveLength(2);
    expect(await pruneIntents(database.db, { olderThan })).toBe(0);
    expect(await pruneIntents(database.db, { olderThan, includeResources: true })).toBe(1);
    expect(await left()).not.toContain('article');
  });

  it('passes all intents to the archive before it deletes them, oldest first', async () => {
    for (let day = 1; day <= 9; day += 1) {
      await database.setTime(`2026-02-0${day}T12:00:00Z`);
      await payment(`day${day}`, ['submit', 'settle']);
    }
    const before = await findIntent(database.db, idOf('day1'));
    await database.setTime('2026-07-01T12:00:00Z');
    const archived: ArchivedIntent[] = [];
    const archive = (intents: readonly ArchivedIntent[]): void => void archived.push(...intents);
    expect(await pruneIntents(database.db, { olderThan, archive })).toBe(9);
    expect(archived.map(({ id }) => id.slice(0, 4))).toEqual(
      Array.from({ length: 9 }, (_, index) => `day${index + 1}`),
    );
    expect(archived[0]).toEqual({ ...before, history: expect.anything() });
    expect(archived[0]?.history.map(({ from, to }) => `${from} > ${to}`)).toEqual([
      'created > submitted',
      'submitted > settled',
    ]);
  });

  it('works in batches, and keeps the batch whose archive fails', async () => {
    await database.db.query(insertLogins(`select 'login' || number as id from generate_series(1, 450) number`));
    await database.setTime('2026-07-01T12:00:00Z');
    let calls = 0;
    const archive = async (intents: readonly ArchivedIntent[], { tx }: { tx: typeof database.db }): Promise<void> => {
      calls += 1;
      await tx.query('select 1');
      if (calls === 2) throw new Error(`The disk is full, of ${intents.length}.`);
    };
    const failing = pruneIntents(database.db, { olderThan, archive: archive as never });
    await expect(failing).rejects.toThrow('The disk is full, of 200.');
    expect(await left()).toHaveLength(250);
    expect(await pruneIntents(database.db, { olderThan })).toBe(250);
  });

  it('keeps intents younger than a day, whatever the date', async () => {
    await payment('today', ['submit', 'settle']);
    const future = new Date('2030-01-01T00:00:00Z');
    expect(await pruneIntents(database.db, { olderThan: future })).toBe(0);
    await database.setTime('2026-01-02T12:00:01Z');
    expect(await pruneIntents(database.db, { olderThan: future })).toBe(1);
  });

  it.each([undefined, new Date(Number.NaN)])('rejects %p as a date', async (wrong) => {
    await expect(pruneIntents(database.db, { olderThan: wrong as Date })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});
