import pg from 'pg';
import { ConsumerProject } from '../package/consumer-project.js';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { eventually } from '../support/eventually.js';
import { ExampleProject } from './example-project.js';
import { addressesOf, Visitor } from './visitor.js';

// `npm start` of docs/examples/existing-app with a Postgres server.

let home: ConsumerProject;
let project: ExampleProject;
let url: string;
/** Connections of the test, to the database of the site. */
let database: pg.Pool;

beforeAll(async () => {
  home = await ConsumerProject.create();
});
beforeEach(async () => {
  project = new ExampleProject('existing-app', home);
  url = await newDatabaseUrl('postgres');
  database = new pg.Pool({ connectionString: url, application_name: 'test' });
  database.on('error', () => undefined);
});
afterEach(async () => {
  await project.end();
  await database.end();
});
afterAll(() => home.remove());

async function startServer(environment: NodeJS.ProcessEnv = {}): Promise<Visitor> {
  const origins = await project.start(2, { INTENT_DATABASE_URL: url, ...environment });
  return new Visitor(await addressesOf(origins));
}

async function queueEmail(subject: string): Promise<void> {
  await database.query("insert into emails (address, subject) values ('ada@example.com', $1)", [subject]);
}

async function isSent(subject: string): Promise<boolean> {
  const { rows } = await database.query('select sent_at from emails where subject = $1', [subject]);
  return rows[0].sent_at !== null;
}

const connections = "from pg_stat_activity where datname = current_database() and application_name <> 'test'";

/** Waits until the site has a connection in this state. */
const untilConnection = (condition: string): Promise<void> =>
  eventually(condition, async () => {
    expect((await database.query(`select ${connections} and ${condition}`)).rowCount).toBeGreaterThan(0);
  });

test('the server answers and sends emails after the database has ended all its connections', async () => {
  const visitor = await startServer();
  const lock = await database.connect();
  await lock.query('begin');
  await lock.query('lock table emails');
  await untilConnection("wait_event_type = 'Lock' and query like 'update emails%'");
  // This request leaves an idle connection in the pool.
  expect((await visitor.get('/')).status).toBe(200);
  await untilConnection(`state = 'idle' and query ilike 'insert into "session"%'`);
  const ended = await database.query(`select pg_terminate_backend(pid) ${connections}`);
  expect(ended.rowCount).toBeGreaterThan(1);
  await lock.query('rollback');
  lock.release();
  await eventually('the server answers', async () => (await visitor.get('/')).status === 200);
  await queueEmail('After the outage');
  await eventually('the email is sent', () => isSent('After the outage'));
});
