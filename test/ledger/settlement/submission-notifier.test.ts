import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../../src/ledger/database/database.js';
import { openPostgres } from '../../../src/ledger/database/postgres/postgres.js';
import { SubmissionNotifier } from '../../../src/ledger/settlement/submission-notifier.js';
import { openTestDatabase } from '../../support/databases/databases.js';
import { type PostgresServer, startPostgres } from '../../support/databases/postgres-server.js';
import { eventually } from '../../support/eventually.js';

const idOf = (number: number): string => `intent${String(number).padStart(38, '1')}`;
const other = 'another-intent';

/** One of the processes of a site. */
interface Process {
  readonly db: Database;
  readonly notifier: SubmissionNotifier;
  readonly heard: string[];
}

const processes: Process[] = [];

async function join(url: string): Promise<Process> {
  const db = await openPostgres({ url });
  const heard: string[] = [];
  const process = { db, heard, notifier: new SubmissionNotifier(db, (id) => void heard.push(id)) };
  processes.push(process);
  return process;
}

afterEach(async () => {
  for (const { db, notifier } of processes.splice(0)) {
    notifier.close();
    await db.close();
  }
});

/** Announces something else again and again, until one process hears what another announces. */
async function untilHeard({ heard }: Process, { notifier }: Process): Promise<void> {
  await eventually('it is heard', async () => {
    notifier.notify(other);
    await wait(20);
    return heard.includes(other);
  });
}

/** What a process has heard, without what `untilHeard` announces. */
const heardBy = ({ heard }: Process): string[] => heard.filter((id) => id !== other);

describe('what is announced', () => {
  let server: PostgresServer;
  let url: string;
  beforeAll(async () => {
    server = await startPostgres();
    url = server.url(await server.createDatabase());
  });

  test('is heard by all, each once, in few statements', async () => {
    const [one, two] = [await join(url), await join(url)];
    await untilHeard(two, one);
    await untilHeard(one, two);
    const statements: string[] = [];
    const query = one.db.query.bind(one.db);
    one.db.query = (sql, values) => {
      if (!values?.includes(other)) statements.push(sql);
      return query(sql, values);
    };
    const ids = Array.from({ length: 400 }, (_, index) => idOf(index));
    for (const id of ids) one.notifier.notify(id);
    await eventually('all are heard', () => heardBy(two).length >= 400);
    // Each statement has a connection of its own.
    expect(heardBy(two).toSorted()).toEqual(ids.toSorted());
    expect(statements).toHaveLength(3);
  });

  test('is heard again after the server was killed and started', async () => {
    const [one, two] = [await join(url), await join(url)];
    await untilHeard(two, one);
    await server.kill();
    two.heard.length = 0;
    await server.start();
    await untilHeard(two, one);
  });

  test('what is still to be sent goes out when it is closed', async () => {
    const [one, two] = [await join(url), await join(url)];
    await untilHeard(two, one);
    one.notifier.notify(idOf(7));
    one.notifier.close();
    await eventually('it is heard', () => heardBy(two).length > 0);
    expect(heardBy(two)).toEqual([idOf(7)]);
  });

  test('nobody is heard once it is closed, and no connection stays', async () => {
    const one = await join(url);
    await untilHeard(one, one);
    one.notifier.close();
    const listening = `select from pg_stat_activity where query like 'listen%' or query = 'select 1'`;
    await eventually('no connection is left', async () => (await server.run('postgres', listening)).length === 0);
  });

  test('an embedded ledger, which is one process alone, asks its database nothing', async () => {
    const { db } = await openTestDatabase('embedded', { migrated: false });
    const statements: string[] = [];
    const notifier = new SubmissionNotifier({ ...db, query: async (sql) => void statements.push(sql) as never }, () => {
      throw new Error('There is nobody.');
    });
    notifier.notify(idOf(1));
    notifier.close();
    expect(statements).toEqual([]);
  });
});
