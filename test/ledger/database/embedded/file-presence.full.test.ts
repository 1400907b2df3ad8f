import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Database } from '../../../../src/ledger/database/database.js';
import { openEmbedded } from '../../../../src/ledger/database/embedded/embedded.js';
import { copyEmptyData } from '../../../support/databases/embedded-template.js';
import { temporaryFolder } from '../../../support/runner/temporary-folder.js';

// Two processes in one folder would destroy the data, and writes into deleted files are lost.

const opened: Database[] = [];
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});

async function openWithTable(): Promise<{ folder: string; db: Database; lock: string }> {
  const folder = path.join(temporaryFolder(), 'ledger');
  mkdirSync(folder);
  await copyEmptyData(path.join(folder, 'data'));
  const db = await open(folder);
  await db.query('create table public.t (name text)');
  const lock = readdirSync(folder).find((name) => name.startsWith('lock.')) ?? '';
  return { folder, db, lock: path.join(folder, lock) };
}

async function open(folder: string): Promise<Database> {
  const db = await openEmbedded({ folder });
  opened.push(db);
  return db;
}

const gone = { code: 'ledger_unavailable', message: expect.stringContaining('was moved, deleted or replaced') };
const insert = `insert into public.t values ('late')`;

test('a process whose lock file is deleted rejects every call, and the next process has all its commits', async () => {
  const { folder, db, lock } = await openWithTable();
  await db.query(`insert into public.t values ('a')`);
  rmSync(lock);
  const next = await open(folder);
  for (const call of [() => db.query(insert), () => db.query('select 1'), () => db.transaction(async () => undefined)])
    await expect(call()).rejects.toMatchObject(gone);
  await next.query(`insert into public.t values ('b')`);
  // Closing the first one writes nothing either, and leaves the lock of the second.
  await db.close();
  await expect(openEmbedded({ folder })).rejects.toMatchObject({ code: 'ledger_locked' });
  await next.close();
  const { rows } = await (await open(folder)).query('select name from public.t order by name');
  expect(rows).toEqual([{ name: 'a' }, { name: 'b' }]);
});

test('a transaction that is open when the lock file is deleted commits nothing', async () => {
  const { folder, db, lock } = await openWithTable();
  const work = db.transaction(async (tx) => {
    await tx.query(insert);
    rmSync(lock);
  });
  await expect(work).rejects.toMatchObject(gone);
  expect((await (await open(folder)).query('select from public.t')).rowCount).toBe(0);
});

test.each<[string, (folder: string) => void]>([
  ['the folder is deleted', (folder) => rmSync(folder, { recursive: true })],
  ['the folder is moved', (folder) => renameSync(folder, `${folder}.old`)],
])('a process rejects every call once %s, even if the path exists again', async (_name, act) => {
  const { folder, db, lock } = await openWithTable();
  act(folder);
  await expect(db.query(insert)).rejects.toMatchObject(gone);
  mkdirSync(path.join(folder, 'data'), { recursive: true });
  await copyEmptyData(path.join(folder, 'data'));
  await expect(db.query(insert)).rejects.toMatchObject(gone);
  await db.close();
  expect(existsSync(lock)).toBe(false);
});

test('a process whose folder was replaced since its last statement writes nothing when it is closed', async () => {
  const { folder, db } = await openWithTable();
  renameSync(folder, `${folder}.old`);
  const control = path.join(folder, 'data/global/pg_control');
  mkdirSync(folder);
  await copyEmptyData(path.join(folder, 'data'));
  const before = readFileSync(control);
  await db.close();
  expect(readFileSync(control).equals(before)).toBe(true);
  expect((await (await open(folder)).query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});

test('a write during which the folder is deleted is not reported as committed', async () => {
  const { folder, db } = await openWithTable();
  const write = db.query(insert);
  // The statement has begun by then.
  await Promise.resolve();
  rmSync(folder, { recursive: true });
  await expect(write).rejects.toMatchObject({ code: 'ledger_unavailable' });
});
