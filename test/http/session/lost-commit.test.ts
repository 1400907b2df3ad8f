import { Browser } from '../../support/browser/browser.js';
import { newDatabaseUrl } from '../../support/databases/databases.js';
import { startPostgres } from '../../support/databases/postgres-server.js';
import { eventually } from '../../support/eventually.js';
import { startRelay, type TcpRelay } from '../../support/network/tcp-relay.js';
import { intentIdOf } from '../../support/sites/intent-id.js';
import { type LedgerSite, type LedgerSiteOptions, startLedgerSite } from '../../support/sites/ledger-site.js';
import { domain } from '../../support/sites/site.js';

// The connection to Postgres breaks during the commit of a login, so the site does not know whether it is committed.

let relay: TcpRelay;
let name: string;
let first: LedgerSite;
let second: LedgerSite;
const completed: string[] = [];
let onSession: () => void | Promise<void> = () => undefined;

/** The end of the last message of a transaction. Its first contains `read committed`. */
const commit = '; commit';

beforeAll(async () => {
  const server = await startPostgres();
  relay = await startRelay(server.socketPath);
  const url = await newDatabaseUrl('postgres');
  name = new URL(url.replace('@/', '@localhost/')).pathname.slice(1);
  const options: LedgerSiteOptions = {
    onLogin: async (user, _req, { tx, intent }) =>
      void (await tx?.query('insert into welcomed values ($1, $2)', [intent, user.id])),
    onEvent: (event) => {
      if (event.type === 'login_completed') completed.push(event.intent);
    },
  };
  first = await startLedgerSite(options, {
    onSession: () => onSession(),
    ledger: { url: `postgres://postgres@127.0.0.1:${relay.port}/${name}` },
  });
  second = await startLedgerSite(options, { ledger: { url }, runningSimulator: first.simulator });
  await second.router.database.query('create table welcomed (intent text, user_id text)');
});

/** A login that the wallet has confirmed and the browser has not completed. */
async function confirmed() {
  const browser = new Browser(first.origin);
  const secret = String((await browser.send('POST', '/intent', { mode: 'login' })).body.client_secret);
  await first.simulator.wallet('Ada').login(secret);
  const id = intentIdOf(secret);
  const complete = (key?: string, { origin } = first) => {
    const at = new Browser(origin, browser.cookies);
    return at.send('POST', '/session', { id }, key === undefined ? {} : { 'idempotency-key': key });
  };
  return { id, complete };
}

const loggedIn = () => ({ status: 200, body: { user: { id: first.simulator.wallet('Ada').userId(domain) } } });
const unavailable = { status: 503, body: { code: 'ledger_unavailable' } };

/** How often `onLogin` and the event are committed and emitted for a login. */
async function countsOf(id: string): Promise<unknown> {
  const { rows } = await second.router.database.query('select from welcomed where intent = $1', [id]);
  return { welcomed: rows.length, events: completed.filter((one) => one === id).length };
}

describe('a login whose connection breaks during the commit', () => {
  test.each([['one'], [undefined]])('after Postgres has executed it is completed, with the key %s', async (key) => {
    const { id, complete } = await confirmed();
    relay.cutAt(commit, 'after');
    const answer = await complete(key);
    expect(answer).toMatchObject(loggedIn());
    expect(answer.headers.getSetCookie().join()).toContain('intent-session=');
    expect(await countsOf(id)).toEqual({ welcomed: 1, events: 1 });
    expect((await complete('another')).status).toBe(404);
  });

  test('while Postgres executes it is completed when Postgres has executed it', async () => {
    const { id, complete } = await confirmed();
    const { database } = second.router;
    await database.query(`create function wait() returns trigger language plpgsql
      as 'begin perform pg_advisory_xact_lock(1); return null; end'`);
    await database.query(`create constraint trigger wait after insert on welcomed deferrable initially deferred
      for each row execute function wait()`);
    const waiting = async (event: string): Promise<void> => {
      const sql = `select from pg_stat_activity where datname = current_database() and wait_event = $1`;
      await eventually(`one waits for ${event}`, async () => (await database.query(sql, [event])).rows.length === 1);
    };
    let answer: ReturnType<typeof complete> | undefined;
    await database.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock(1)');
      answer = complete('one');
      await waiting('advisory');
      relay.cut();
      await waiting('transactionid');
    });
    expect(await answer).toMatchObject(loggedIn());
    expect(await countsOf(id)).toEqual({ welcomed: 1, events: 1 });
    await database.query('drop trigger wait on welcomed');
  });

  test('before Postgres has executed it gets 503, and the retry completes it', async () => {
    const { id, complete } = await confirmed();
    relay.cutAt(commit, 'before');
    expect(await complete('one')).toMatchObject(unavailable);
    expect(await countsOf(id)).toEqual({ welcomed: 0, events: 0 });
    expect(await complete('one')).toMatchObject(loggedIn());
    expect(await countsOf(id)).toEqual({ welcomed: 1, events: 1 });
  });

  test.each([
    ['before', 0],
    ['after', 1],
  ] as const)(
    '%s Postgres has executed it, and that remains unreachable, gets 503, and the retry logs in, also at another process',
    async (moment, welcomed) => {
      const { id, complete } = await confirmed();
      relay.cutAt(commit, moment, true);
      expect(await complete('one')).toMatchObject(unavailable);
      expect(await complete('one')).toMatchObject(unavailable);
      expect(await countsOf(id)).toMatchObject({ welcomed });
      relay.restore();
      if (moment === 'after') expect((await complete('another', second)).status).toBe(404);
      expect(await complete('one', second)).toMatchObject(loggedIn());
      expect(await complete('one')).toMatchObject(loggedIn());
      expect(await countsOf(id)).toMatchObject({ welcomed: 1 });
    },
  );
});

test('a login whose session another process has started is not reopened by the first, whose session fails', async () => {
  const { id, complete } = await confirmed();
  let fail: (error: Error) => void = () => undefined;
  onSession = () => new Promise((_resolve, reject) => (fail = reject));
  const failing = complete('one');
  await eventually(async () => (await first.router.intents.find(id))?.state === 'completed');
  expect(await complete('one', second)).toMatchObject(loggedIn());
  fail(new Error('the session store is down'));
  expect((await failing).status).toBe(500);
  onSession = () => undefined;
  expect((await complete('another', second)).status).toBe(404);
  expect(await complete('one', second)).toMatchObject(loggedIn());
  expect(await countsOf(id)).toMatchObject({ welcomed: 1 });
});
