import { completeLoginOnce, recordUserId } from '../../../src/ledger/intents/complete-login.js';
import { listIntents } from '../../../src/ledger/intents/list-intents.js';
import { recordIntents } from '../../../src/ledger/intents/record-intent.js';
import type { ListOptions, RecordedTerms } from '../../../src/ledger/ledger.js';
import { kinds, openTestDatabase, type TestDatabase } from '../../support/databases/databases.js';
import { insertPaymentRows, ledgerTables, move } from '../../support/databases/ledger-rows.js';

const start = '2026-01-01T12:00:00.000Z';
const times = { watchFirstMs: 2_000, watchMs: 30 * 86_400_000 };
const browser = new Uint8Array(32).fill(7);
const idOf = (number: number): string => `intent${String(number).padStart(38, '0')}`;
const termsOf = (metadata: Record<string, unknown>): RecordedTerms => ({
  ...{ amount: '4.50', currency: 'usd', destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR' },
  ...{ description: undefined, login: false, resource: undefined, metadata },
});
const numbers = (intents: readonly { readonly id: string }[]) => intents.map(({ id }) => Number(id.slice(-2)));
const at = (seconds: number): Date => new Date(Date.parse(start) + seconds * 1_000);

describe.each(kinds)('listIntents on %s', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase(kind, { fakeTime: true });
  });
  const query = (sql: string, values: readonly unknown[] = []) => database.db.query(sql, values);
  const list = async (options: ListOptions) => numbers((await listIntents(database.db, options)).intents);
  const addPayment = (number: number, metadata: Record<string, unknown> = {}, login = false) =>
    recordIntents(database.db, [{ id: idOf(number), terms: { ...termsOf(metadata), login }, browser }], times);
  const addLogin = (number: number) =>
    recordIntents(database.db, [{ id: idOf(number), terms: undefined, browser }], times);
  const complete = (number: number, userId: string) =>
    completeLoginOnce(
      database.db,
      { id: idOf(number), browser, ttlMs: 120_000, userId, key: 'key' },
      async () => undefined,
    );
  async function empty(): Promise<void> {
    await query(`truncate ${ledgerTables}`);
    await database.setTime(start);
  }

  describe('without filters', () => {
    beforeAll(async () => {
      await empty();
      for (let number = 0; number < 7; number += 1) {
        await addPayment(number);
        if (number % 2 === 1) await database.advance(1_000);
      }
    });

    it('lists the newest first, page by page, each once, also with the same time', async () => {
      const seen: number[] = [];
      let after: string | undefined;
      do {
        const page = await listIntents(database.db, { limit: 3, after });
        seen.push(...numbers(page.intents));
        after = page.next;
      } while (after !== undefined);
      expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0]);
    });

    it('continues after a page in a session whose dates have a German format', async () => {
      await database.db.transaction(async (tx) => {
        await tx.query(`set local datestyle = 'German, DMY'`);
        const first = await listIntents(tx, { limit: 3 });
        const second = await listIntents(tx, { limit: 10, after: first.next });
        expect(numbers(second.intents)).toEqual([3, 2, 1, 0]);
      });
    });
  });

  describe('with filters', () => {
    beforeAll(async () => {
      await empty();
      await addPayment(0, { order: 42, shop: 'a', tags: ['new', 'gift'], customer: { id: 7, name: 'Ada' } });
      await addPayment(1, { order: 43, shop: 'a', customer: { id: 8 } });
      await database.advance(1_000);
      await addLogin(2);
      await addLogin(3);
      await addLogin(4);
      await database.advance(1_000);
      await addPayment(5, { order: '42', shop: 'b' }, true);
      await addPayment(6);
      await complete(3, 'ada');
      await complete(4, "o'hara");
      await recordUserId(database.db, idOf(5), 'ada');
      await move(database.db, idOf(5), ['submit']);
      await move(database.db, idOf(1), ['expire']);
    });

    it.each<[options: ListOptions, found: readonly number[]]>([
      [{ kind: 'payment' }, [6, 5, 1, 0]],
      [{ state: 'expired' }, [1]],
      [{ state: 'completed' }, [4, 3]],
      [{ state: 'created', kind: 'login' }, [2]],
      [{ state: 'created', kind: 'payment' }, [6, 0]],
      [{ userId: 'ada' }, [5, 3]],
      [{ userId: "o'hara" }, [4]],
      [{ userId: '' }, []],
      [{ metadata: { order: 42 } }, [0]],
      [{ metadata: { order: '42' } }, [5]],
      [{ metadata: { shop: 'a', order: 43 } }, [1]],
      [{ metadata: { shop: 'a' }, state: 'created' }, [0]],
      [{ metadata: { shop: 'b' }, userId: 'eve' }, []],
      [{ metadata: { customer: { id: 7 } } }, [0]],
      [{ metadata: { tags: ['gift'] } }, [0]],
      [{ createdFrom: at(1), createdBefore: at(2) }, [4, 3, 2]],
      [{ createdFrom: at(1), state: 'completed', kind: 'login', userId: 'ada' }, [3]],
      [{ createdFrom: new Date(-8.64e15), createdBefore: new Date(8.64e15) }, [6, 5, 4, 3, 2, 1, 0]],
    ])('%j lists %j, on one page or on several', async (options, found) => {
      expect(await list(options)).toEqual(found);
      const seen: number[] = [];
      for (let after: string | undefined, pages = 0; pages <= found.length; pages += 1) {
        const page = await listIntents(database.db, { ...options, limit: 1, after });
        seen.push(...numbers(page.intents));
        after = page.next;
        if (after === undefined) break;
      }
      expect(seen).toEqual(found);
    });

    it.each<[metadata: Record<string, unknown>]>([
      [{ order: undefined }],
      [{ shop: 'a', account: undefined }],
      [{ shop: 'a', customer: { id: undefined } }],
    ])('rejects the filter %p, because a missing value would list the payments of everyone', async (metadata) => {
      await expect(list({ metadata })).rejects.toMatchObject({ code: 'invalid_request' });
    });

    it.each<[what: string, metadata: Record<string, unknown>]>([
      ['a quote', { order: "42' or '1'='1" }],
      ['a key that is SQL', { "order' is not null) --": 42 }],
      ['a jsonpath', { $: '$.* ? (@ == @)' }],
      ['the escape of a NUL', { order: '\\u0000' }],
    ])('treats %s in the metadata as data', async (_what, metadata) => {
      expect(await list({ metadata })).toEqual([]);
      await addPayment(9, metadata);
      expect(await list({ metadata })).toEqual([9]);
      await query('delete from express_intents.intents where id = $1', [idOf(9)]);
      await query('delete from express_intents.payments where intent_id = $1', [idOf(9)]);
    });

    it.each(["ada' or true --", '%'])('treats %j as a user id', async (userId) => {
      expect(await list({ userId })).toEqual([]);
    });
  });

  it('reads at most two thousand intents for a page of a filter without an index', async () => {
    await empty();
    await addLogin(1);
    await database.advance(1_000);
    await query(insertPaymentRows(`select 'other' || lpad(n::text, 39, 'x') as id from generate_series(1, 4500) n`));
    const pages: number[][] = [];
    for (let after: string | undefined; ; ) {
      const { intents, next } = await listIntents(database.db, { kind: 'login', after });
      pages.push(numbers(intents));
      after = next;
      if (after === undefined) break;
    }
    expect(pages).toEqual([[], [], [1]]);
  });
});

describe('parseListOptions', () => {
  const nothing = { query: () => Promise.reject(new Error('The database was queried.')) };
  const circular: Record<string, unknown> = {};
  circular.self = circular;

  it.each<[what: string, options: object, message: string]>([
    ['a limit of 0', { limit: 0 }, 'from 1 to 1000'],
    ['a limit of a million', { limit: 1e6 }, 'from 1 to 1000'],
    ['SQL as the limit', { limit: '1; drop table x' }, 'from 1 to 1000'],
    ['an inherited name as the state', { state: 'toString' }, 'must be one of'],
    ['an unknown kind', { kind: 'payments' }, 'payment or login'],
    [
      'SQL in the cursor',
      { after: Buffer.from("2026-01-01 12:00:00+00|'; drop table x; --").toString('base64url') },
      '`next` of a previous page',
    ],
    ...['2026-02-30 12:00:00+00', '2026-01-01 12:00:00+99'].map(
      (time): [what: string, options: object, message: string] => [
        `the time ${time} in the cursor`,
        { after: Buffer.from(`${time}|${idOf(0)}`).toString('base64url') },
        '`next` of a previous page',
      ],
    ),
    ['an unknown filter', { user: 'ada' }, 'unknown property "user". Did you mean "userId"?'],
    ['a number as the user', { userId: 7 }, 'must be a user id'],
    ['a user id with a NUL', { userId: 'a\0' }, 'must be a user id'],
    ['a list as the metadata', { metadata: [1] }, 'must be an object'],
    ['metadata without members', { metadata: {} }, 'has no members'],
    ...['userId', 'createdFrom'].map((name): [what: string, options: object, message: string] => [
      `the filter ${name} if it is undefined`,
      { [name]: undefined, limit: 1 },
      `\`${name}\` is undefined`,
    ]),
    ['metadata with a NUL', { metadata: { order: '\0' } }, 'metadata.order is a string that contains a NUL character'],
    ['circular metadata', { metadata: circular }, 'circular or nested too deeply'],
    ['long metadata', { metadata: { text: 'x'.repeat(17_000) } }, 'has more than 16384 characters'],
    ['an invalid date', { createdBefore: new Date('x') }, '`createdBefore` must be a valid Date'],
  ])('rejects %s before a query', async (_what, options, message) => {
    await expect(listIntents(nothing, options)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(message),
    });
  });
});
