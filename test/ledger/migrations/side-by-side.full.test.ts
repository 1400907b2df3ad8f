import { setTimeout as wait } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { createLedger } from '../../../src/ledger/create-ledger.js';
import { openPostgres } from '../../../src/ledger/database/postgres/postgres.js';
import type { Ledger, NewIntent } from '../../../src/ledger/ledger.js';
import { type Migration, migrate, migrations } from '../../../src/ledger/migrations/migrate.js';
import { type PostgresServer, startPostgres } from '../../support/databases/postgres-server.js';
import { eventually } from '../../support/eventually.js';
import { LogRecorder } from '../../support/sites/site.js';
import { violationOf } from './migration-rules.js';

// A version and the next one run on the same tables at the same time, and then the first one again.

jest.setTimeout(300_000);

/** The body of the trigger function in the last migration that defines it. */
const body =
  migrations
    .map(({ sql }) => /function express_intents\.enforce_transition\(\).*?as \$\$(.*?)end\s*\$\$/s.exec(sql)?.[1])
    .findLast((found) => found !== undefined) ?? '';
const version = migrations.length;

/** The next version: one more column with a default, and one more rule, which existing rows satisfy. */
const next: readonly Migration[] = [
  ...migrations,
  {
    version: version + 1,
    name: 'channel',
    sql: `alter table express_intents.payments add column channel text not null default 'web';
      create or replace function express_intents.enforce_transition() returns trigger language plpgsql as $$
      ${body.replace('begin', "begin\n  if new.channel = 'none' then raise exception 'there is no such channel'; end if;")}end $$`,
  },
];

const settings = {
  settleDelayMs: 0,
  watchMs: 3_600_000,
  reversalWatchMs: 0,
  settlementConcurrency: 24,
  hookAttempts: 3,
  hookTimeoutMs: 10_000,
  lateAfterMs: 3_600_000,
};
const timing = { roundMs: 10, watchFirstMs: 10, retryFirstMs: 10 };
const terms = {
  amount: '4.50',
  currency: 'usd',
  destination: 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR',
  description: 'tea',
  login: false,
  resource: 'tea',
  metadata: {},
};

let server: PostgresServer;
let name: string;
let created = 0;
const log = new LogRecorder();
const ledgers: Ledger[] = [];

beforeAll(async () => {
  server = await startPostgres();
  name = await server.createDatabase();
  await server.run(name, 'create table public.effects (id text primary key, by text)');
});
afterAll(async () => {
  await Promise.all(ledgers.map((ledger) => ledger.close()));
});

/** Starts a process of a version, whose sequencer reports every intent as paid. */
async function startVersion(by: string, list: readonly Migration[]): Promise<Ledger> {
  const ledger = createLedger({
    open: async () => {
      const db = await openPostgres({ url: server.url(name) });
      await migrate(db, list);
      return db;
    },
    hooks: {
      onPaid: async ({ id }, { tx }) => {
        await tx.query('insert into public.effects values ($1, $2)', [id, by]);
      },
    },
    fetchStatus: async () => ({ exists: true, intentSubmitted: true }),
    fetchUserId: undefined,
    settings,
    timing,
    logger: log,
  });
  ledgers.push(ledger);
  await ledger.ready();
  return ledger;
}

function newIntent(): NewIntent {
  created += 1;
  return { id: `intent${String(created).padStart(38, 'x')}`, terms, browser: new Uint8Array(32).fill(7) };
}

/** Creates intents, at least `least`, until the returned function is called, which resolves with their ids. */
function load(ledger: Ledger, least: number): () => Promise<readonly string[]> {
  let isOver = false;
  const ids: string[] = [];
  const running = (async () => {
    while (!isOver || ids.length < least) {
      const intent = newIntent();
      const key = { key: intent.id, fingerprint: intent.browser, sealedSecret: 'sealed' };
      await ledger.reserve(intent, key);
      await ledger.confirm(intent.id);
      ids.push(intent.id);
      await ledger.paymentsFor(intent.browser, 'tea');
      await wait(ids.length < least ? 5 : 50);
    }
    return ids;
  })();
  return () => {
    isOver = true;
    return running;
  };
}

async function settled(ledger: Ledger, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await eventually(`${id} is settled`, async () => (await ledger.find(id))?.state === 'settled');
  }
}

const effects = async (): Promise<readonly Record<string, unknown>[]> =>
  server.run(name, 'select id, by from public.effects');

/** Waits until a process has settled a payment. */
const settledBy = (process: string): Promise<void> =>
  eventually(`a payment settled by ${process}`, async () => (await effects()).some(({ by }) => by === process));

test('the next version of these tests follows the rules for migrations', () => {
  expect(next.map(violationOf)).toEqual(next.map(() => undefined));
  expect(body).toContain('cannot change from');
});

test('an old version keeps working while the next one migrates, and each settles the payments of the other', async () => {
  const old = await startVersion('old', migrations);
  const endOld = load(old, 10);
  await settledBy('old');
  const newer = await startVersion('newer', next);
  const endNew = load(newer, 10);
  const db = await openPostgres({ url: server.url(name) });
  await settledBy('newer');
  const [oldIds, newIds] = await Promise.all([endOld(), endNew()]);
  await settled(newer, oldIds);
  await settled(old, newIds);
  const done = await effects();
  expect(done).toHaveLength(oldIds.length + newIds.length);
  expect(new Set(done.map(({ by }) => by))).toEqual(new Set(['old', 'newer']));
  const { rows } = await db.query('select distinct channel from express_intents.payments');
  expect(rows).toEqual([{ channel: 'web' }]);
  await db.close();
  await old.close();
  expect(log.lines).toEqual([]);
});

test('the old version starts again on the newer tables, leaves them unchanged, and works next to the new version', async () => {
  const old = await startVersion('again', migrations);
  await settled(old, await load(old, 10)());
  expect((await old.list({ state: 'settled', limit: 1000 })).intents).toHaveLength(created);
  const tables = await server.run(name, 'select version from express_intents.schema_versions');
  expect(tables).toContainEqual({ version: version + 1 });
  expect(log.lines).toEqual([]);
});
