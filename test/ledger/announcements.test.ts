import { setTimeout as wait } from 'node:timers/promises';
import { Announcements } from '../../src/ledger/announcements.js';
import type { Database } from '../../src/ledger/database.js';
import { openPostgres } from '../../src/ledger/postgres.js';
import { openTestDatabase } from '../support/databases/databases.js';
import { type PostgresServer, startPostgres } from '../support/databases/postgres-server.js';

const idOf = (number: number): string => `intent${String(number).padStart(38, '1')}`;

/** One of the processes of a site. */
interface Process {
  readonly db: Database;
  readonly announcements: Announcements;
  readonly heard: string[];
}

const processes: Process[] = [];

async function join(url: string): Promise<Process> {
  const db = await openPostgres({ url });
  const heard: string[] = [];
  const process = { db, heard, announcements: new Announcements(db, (id) => void heard.push(id)) };
  processes.push(process);
  return process;
}

afterEach(async () => {
  for (const { db, announcements } of processes.splice(0)) {
    announcements.close();
    await db.close();
  }
});

async function untilHeard({ heard }: Process, announce: () => void): Promise<void> {
  const endMs = performance.now() + 10_000;
  for (heard.length = 0; heard.length === 0; await wait(50)) {
    if (performance.now() > endMs) throw new Error('It was not heard.');
    announce();
  }
}

describe('what is announced', () => {
  let server: PostgresServer;
  let url: string;
  beforeAll(async () => {
    server = await startPostgres();
    url = server.url(await server.createDatabase());
  }, 60_000);

  test('is heard by all, each once, in few statements', async () => {
    const [one, other] = [await join(url), await join(url)];
    await untilHeard(other, () => one.announcements.announce(idOf(0)));
    await untilHeard(one, () => one.announcements.announce(idOf(0)));
    await wait(100);
    const statements: string[] = [];
    const query = one.db.query.bind(one.db);
    one.db.query = (sql, values) => {
      statements.push(sql);
      return query(sql, values);
    };
    one.heard.length = other.heard.length = 0;
    const ids = Array.from({ length: 400 }, (_, index) => idOf(index));
    for (const id of ids) one.announcements.announce(id);
    while (other.heard.length < 400) await wait(5);
    // Each statement has a connection of its own.
    expect(other.heard.toSorted()).toEqual(ids.toSorted());
    expect(statements).toHaveLength(3);
  });

  test('is heard again after the server was killed and started', async () => {
    const [one, other] = [await join(url), await join(url)];
    await untilHeard(other, () => one.announcements.announce(idOf(1)));
    await server.kill();
    one.announcements.announce(idOf(2));
    await wait(300);
    await server.start();
    await untilHeard(other, () => one.announcements.announce(idOf(3)));
    expect(new Set(other.heard)).toEqual(new Set([idOf(3)]));
  }, 30_000);

  test('what is still to be sent goes out when it is closed', async () => {
    const [one, other] = [await join(url), await join(url)];
    await untilHeard(other, () => one.announcements.announce(idOf(1)));
    await wait(100);
    other.heard.length = 0;
    one.announcements.announce(idOf(7));
    one.announcements.close();
    while (other.heard.length === 0) await wait(5);
    expect(other.heard).toEqual([idOf(7)]);
  });

  test('nobody is heard once it is closed, and no connection stays', async () => {
    const one = await join(url);
    await untilHeard(one, () => one.announcements.announce(idOf(1)));
    one.announcements.close();
    const listening = `select from pg_stat_activity where query like 'listen%' or query = 'select 1'`;
    while ((await server.run('postgres', listening)).length > 0) await wait(20);
  });

  test('an embedded ledger, which is one process alone, asks its database nothing', async () => {
    const { db } = await openTestDatabase('embedded', { migrated: false });
    const statements: string[] = [];
    const announcements = new Announcements({ ...db, query: async (sql) => void statements.push(sql) as never }, () => {
      throw new Error('There is nobody.');
    });
    announcements.announce(idOf(1));
    announcements.close();
    expect(statements).toEqual([]);
  });
});
