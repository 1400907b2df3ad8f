import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database, DatabaseTransaction } from '../../../../src/ledger/database/database.js';
import { openEmbedded } from '../../../../src/ledger/database/embedded/embedded.js';
import { copyEmptyData } from '../../../support/databases/embedded-template.js';
import { eventually } from '../../../support/eventually.js';
import { compile, start } from '../../../support/runner/child-program.js';
import { temporaryFolder } from '../../../support/runner/temporary-folder.js';
import { holdTimeouts } from '../../../support/timeouts.js';

// Creating, copying and opening a database takes seconds on a busy machine.
const opened: Database[] = [];

afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});

async function open(folder: string, bounds: { waitMs?: number; closeMs?: number } = {}): Promise<Database> {
  const db = await openEmbedded({ folder, ...bounds });
  opened.push(db);
  return db;
}

/** A folder with an empty database. */
async function emptyFolder(): Promise<string> {
  const folder = temporaryFolder();
  await copyEmptyData(path.join(folder, 'data'));
  return folder;
}

let exitWithoutClose: Promise<unknown>;

// It exits during the other tests: after a statement, Postgres still has a timer of ten seconds.
beforeAll(async () => {
  const folder = await emptyFolder();
  const file = await compile(new URL('./write-rows-program.ts', import.meta.url));
  const killed = start(file, [folder, '1']);
  for (const word of ['open', 1, 'in a transaction']) expect(await killed.next()).toBe(word);
  await killed.kill();
  const child = start(file, [folder]);
  expect(await child.next()).toBe('open');
  exitWithoutClose = child.ended;
});

/** A callback that waits until `release`. */
function hold(): {
  readonly work: (tx: DatabaseTransaction) => Promise<void>;
  readonly release: () => void;
  readonly begun: Promise<void>;
} {
  let release = (): void => undefined;
  let begin = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const work = (): Promise<void> => {
    begin();
    return held;
  };
  return { work, release, begun };
}

const one = [{ one: 1 }];
const select = 'select 1::float8 as one';

describe('the folder of an embedded ledger', () => {
  test('is created if it is missing or a process died while creating it, with the lock next to the data', async () => {
    const folder = path.join(temporaryFolder(), 'a', 'ledger');
    mkdirSync(path.join(folder, 'data.new/base'), { recursive: true });
    writeFileSync(path.join(folder, 'data.new/PG_VERSION'), '18\n');
    const db = await open(folder);
    expect((await db.query(select)).rows).toEqual(one);
    expect(readdirSync(folder).sort()).toEqual(['data', expect.stringMatching(/^lock\./)]);
    await db.close();
    expect(readdirSync(folder)).toEqual(['data']);
  });

  test('cannot be opened twice; it can be opened again after it was closed, undamaged', async () => {
    const folder = await emptyFolder();
    const db = await open(folder);
    await db.query('create table public.t (name text)');
    await expect(openEmbedded({ folder })).rejects.toMatchObject({ code: 'ledger_locked' });
    await db.query(`insert into public.t values ('a')`);
    await db.close();
    expect((await (await open(folder)).query('select name from public.t')).rows).toEqual([{ name: 'a' }]);
  });

  test('that cannot be opened is unchanged and unlocked', async () => {
    const folder = await emptyFolder();
    const version = path.join(folder, 'data/PG_VERSION');
    const before = readFileSync(version, 'utf8');
    writeFileSync(version, '9\n');
    await expect(openEmbedded({ folder })).rejects.toMatchObject({
      code: 'ledger_unavailable',
      message: expect.stringContaining(`The ledger in ${folder} cannot be opened`),
    });
    expect(readdirSync(folder)).toEqual(['data']);
    writeFileSync(version, before);
    expect((await (await open(folder)).query(select)).rows).toEqual(one);
  });
});

describe('a transaction on the embedded ledger', () => {
  let folder: string;
  let db: Database;

  beforeEach(async () => {
    folder ??= await emptyFolder();
    db = await open(folder, { waitMs: 1_000, closeMs: 100 });
  });

  test('rejects calls of the database itself from within with a deadlock error, and continues', async () => {
    const refused = {
      code: 'internal_error',
      message: expect.stringContaining('Deadlock: inside a transaction use `tx`'),
    };
    await db.transaction(async (tx) => {
      await expect(db.query(select)).rejects.toMatchObject(refused);
      await expect(db.transaction(async () => undefined)).rejects.toMatchObject(refused);
      await wait(1).then(() => expect(db.query(select)).rejects.toMatchObject(refused));
      expect((await tx.query(select)).rows).toEqual(one);
    });
  });

  test('does not count as open for code that it started and did not await: that may query the database', async () => {
    let later: Promise<unknown> | undefined;
    const over = hold();
    await db.transaction(async () => {
      later = over.work({} as DatabaseTransaction).then(() => db.query(select));
    });
    over.release();
    await expect(later).resolves.toMatchObject({ rows: one });
  });

  test('delays other calls for at most waitMs; a call that timed out does not run later', async () => {
    const holding = hold();
    const work = db.transaction(holding.work);
    await holding.begun;
    const expire = holdTimeouts(1_000);
    let isOver = false;
    const waiting = Promise.allSettled([
      db.query('create table public.late ()'),
      db.transaction((tx) => tx.query('create table public.late ()')),
    ]).finally(() => {
      isOver = true;
    });
    await eventually('both time out', () => {
      expire();
      return isOver;
    });
    for (const result of await waiting) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'ledger_unavailable' } });
    }
    const patient = db.query(select);
    holding.release();
    await work;
    expect((await patient).rows).toEqual(one);
    await expect(db.query('select from public.late')).rejects.toMatchObject({ code: '42P01' });
  });

  test('that does not end is rolled back when the database is closed; waiting calls are rejected', async () => {
    await db.close();
    db = await open(folder, { waitMs: 60_000, closeMs: 100 });
    const holding = hold();
    const work = db.transaction(async (tx) => {
      await tx.query('create table public.unfinished ()');
      await holding.work(tx);
    });
    await holding.begun;
    const waiting = db.query(select);
    const [worked, waited] = await Promise.allSettled([work, waiting, db.close()]);
    expect(worked).toMatchObject({ status: 'rejected', reason: { code: 'ledger_unavailable' } });
    expect(waited).toMatchObject({ status: 'rejected', reason: { code: 'ledger_unavailable' } });
    db = await open(folder);
    await expect(db.query('select from public.unfinished')).rejects.toMatchObject({ code: '42P01' });
  });
});

describe('a process with an embedded ledger', () => {
  test('that is killed at any moment leaves whole transactions: all reported ones, and at most one more', async () => {
    const folder = await emptyFolder();
    const file = await compile(new URL('./write-rows-program.ts', import.meta.url));
    const child = start(file, [folder, '100000']);
    expect(await child.next()).toBe('open');
    let reported = 0;
    const listening = (async () => {
      for (;;) reported = Number(await child.next());
    })().catch(() => undefined);
    await eventually('five commits are reported', () => reported >= 5);
    await wait(Math.random() * 20);
    await child.kill();
    await listening;
    const { rows } = await (await open(folder)).query<{ n: number; halves: number }>(
      'select count(distinct number)::float8 as n, count(*)::float8 as halves from public.t',
    );
    const [{ n, halves } = { n: 0, halves: 0 }] = rows;
    expect(reported).toBeGreaterThan(0);
    expect(n).toBeGreaterThanOrEqual(reported);
    expect(n).toBeLessThanOrEqual(reported + 1);
    expect(halves).toBe(2 * n);
  });

  test('is not kept alive by the database, even one that needs recovery', async () => {
    await exitWithoutClose;
  });
});
