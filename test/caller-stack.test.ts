import { readFileSync } from 'node:fs';
import { withCallerStack } from '../src/caller-stack.js';
import { firstAppFrame } from '../src/errors.js';
import { createLedger } from '../src/ledger/create-ledger.js';
import type { DatabaseTransaction } from '../src/ledger/database/database.js';
import type { SiteDatabase } from '../src/ledger/ledger.js';
import { kinds, openTestDatabase } from './support/databases/databases.js';
import { LogRecorder } from './support/sites/site.js';

const source = readFileSync(new URL(import.meta.url), 'utf8').split('\n');
/** The line of this file that a comment marks, as in a stack. Names of functions change in a test runner. */
const lineOf = (mark: string): string =>
  `caller-stack.test.ts:${1 + source.findIndex((line) => line.endsWith(`// ${mark}`))}:`;

describe.each(kinds)('a failed query of the site on %s', (kind) => {
  let database: SiteDatabase;
  beforeAll(async () => {
    const { db } = await openTestDatabase(kind);
    const hour = 3_600_000;
    ({ database } = createLedger({
      open: async () => db,
      hooks: {},
      fetchStatus: async () => ({ exists: false, intentSubmitted: false }),
      fetchUserId: undefined,
      settings: {
        ...{ settleDelayMs: 0, watchMs: hour, reversalWatchMs: hour, settlementConcurrency: 1 },
        ...{ hookAttempts: 3, hookTimeoutMs: 1_000, lateAfterMs: hour },
      },
      logger: new LogRecorder(),
    }));
    await database.query(
      'create table stacks (id text primary key, later text references stacks deferrable initially deferred)',
    );
    await insert();
  });

  const statement = `insert into stacks (id) values ('1')`;
  async function insert(): Promise<void> {
    await database.query(statement); // database
  }
  async function insertThrough(tx: DatabaseTransaction): Promise<void> {
    await tx.query(statement); // tx
  }
  async function insertWithClient(tx: DatabaseTransaction): Promise<void> {
    await (tx.client as { query(sql: string): Promise<unknown> }).query(statement); // client
  }
  async function insertDeferred(): Promise<void> {
    await database.transaction((tx) => tx.query(`insert into stacks values ('2', 'missing')`)); // commit
  }

  test.each<[string, string, string, () => Promise<unknown>]>([
    ['router.database.query', 'database', '23505', insert],
    ['tx.query', 'tx', '23505', () => database.transaction(insertThrough)],
    ['tx.client', 'client', '23505', () => database.transaction(insertWithClient)],
    ['the commit', 'commit', '23503', insertDeferred],
  ])(
    '%s rejects with the error of the driver, whose stack begins with the line of the caller',
    async (_name, mark, code, run) => {
      const error: Error = await run().then(String, (failure) => failure);
      const constraint = code === '23505' ? 'stacks_pkey' : 'stacks_later_fkey';
      const detail = code === '23505' ? 'Key (id)=(1) already exists.' : expect.stringContaining('(later)=(missing)');
      expect(error).toMatchObject({ code, constraint, detail, table: 'stacks' });
      expect(String(error.stack).split('\n')[0]).toBe(`error: ${error.message}`);
      expect(firstAppFrame(error.stack)).toContain(lineOf(mark));
    },
  );
});

test.each<[string, () => unknown]>([
  ['null', () => null],
  ['text', () => 'text'],
  ['a frozen error', () => Object.freeze(new Error('frozen'))],
  ['an object with a stack of its own', () => ({ stack: 'a pile' })],
  [
    'an error whose stack cannot be read',
    () =>
      Object.defineProperty(new Error('hostile'), 'stack', {
        get() {
          throw new Error('The accessor failed.');
        },
      }),
  ],
])('withCallerStack rejects with %s unchanged', async (_name, create) => {
  const thrown = create();
  const stackOf = (value: unknown): unknown => Object.getOwnPropertyDescriptor(value ?? {}, 'stack')?.value;
  const before = stackOf(thrown);
  expect(await withCallerStack(() => Promise.reject(thrown)).catch((error: unknown) => error)).toBe(thrown);
  expect(stackOf(thrown)).toBe(before);
});
