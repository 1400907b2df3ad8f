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
  readonly received: string[];
}

const processes: Process[] = [];

async function startProcess(url: string): Promise<Process> {
  const db = await openPostgres({ url });
  const received: string[] = [];
  const process = { db, received, notifier: new SubmissionNotifier(db, (id) => void received.push(id)) };
  processes.push(process);
  return process;
}

afterEach(async () => {
  for (const { db, notifier } of processes.splice(0)) {
    notifier.close();
    await db.close();
  }
});

/** Repeats a notification of another intent until the process receives it. */
async function untilReceived({ received }: Process, { notifier }: Process): Promise<void> {
  await eventually('it is received', async () => {
    notifier.notify(other);
    await wait(20);
    return received.includes(other);
  });
}

/** The notifications that a process received, except those of `untilReceived`. */
const receivedBy = ({ received }: Process): string[] => received.filter((id) => id !== other);

describe('a notification', () => {
  let server: PostgresServer;
  let url: string;
  beforeAll(async () => {
    server = await startPostgres();
    url = server.url(await server.createDatabase());
  });

  test('reaches each process once, in few statements', async () => {
    const [one, two] = [await startProcess(url), await startProcess(url)];
    await untilReceived(two, one);
    await untilReceived(one, two);
    const statements: string[] = [];
    const query = one.db.query.bind(one.db);
    one.db.query = (sql, values) => {
      if (!values?.includes(other)) statements.push(sql);
      return query(sql, values);
    };
    const ids = Array.from({ length: 400 }, (_, index) => idOf(index));
    for (const id of ids) one.notifier.notify(id);
    await eventually('all are received', () => receivedBy(two).length >= 400);
    // Each statement has a connection of its own.
    expect(receivedBy(two).toSorted()).toEqual(ids.toSorted());
    expect(statements).toHaveLength(3);
  });

  test('reaches other processes again after the server was killed and restarted', async () => {
    const [one, two] = [await startProcess(url), await startProcess(url)];
    await untilReceived(two, one);
    await server.kill();
    two.received.length = 0;
    await server.start();
    await untilReceived(two, one);
  });

  test('causes no statement in an embedded ledger, which has only one process', async () => {
    const { db } = await openTestDatabase('embedded', { migrated: false });
    const statements: string[] = [];
    const notifier = new SubmissionNotifier({ ...db, query: async (sql) => void statements.push(sql) as never }, () => {
      throw new Error('No notification was expected.');
    });
    notifier.notify(idOf(1));
    notifier.close();
    expect(statements).toEqual([]);
  });
});
