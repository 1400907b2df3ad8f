import { setTimeout as wait } from 'node:timers/promises';
import { jest } from '@jest/globals';
import pg from 'pg';
import type { Database } from '../../../../src/ledger/database/database.js';
import { openPostgres, type PostgresOptions } from '../../../../src/ledger/database/postgres/postgres.js';
import { type PostgresServer, startPostgres } from '../../../support/databases/postgres-server.js';
import { startPooler } from '../../../support/databases/transaction-pooler.js';
import { eventually } from '../../../support/eventually.js';
import { startRelay, type TcpRelay } from '../../../support/network/tcp-relay.js';
import { compile, start } from '../../../support/runner/child-program.js';
import { holdTimeouts } from '../../../support/timeouts.js';

// Faults between a site and its Postgres. In each case a call ends within its timeout, with one error, and the next call
// succeeds.

const unavailable = { name: 'IntentError', code: 'ledger_unavailable' };

/** For tests that let the timeouts of the driver expire; all others have those of the product. */
const bounds = { connectMs: 61_000, statementMs: 62_000, closeMs: 1_000 };
/** How long the driver waits for a response, with these bounds. */
const responseMs = bounds.statementMs + 1_000;
/** A database that answers no probe for this long counts as silent. Other tests show that. */
const probeMs = 2_000;
const holdBounds = () => holdTimeouts(responseMs, bounds.connectMs, probeMs);

/** Lets timeouts expire until a call has ended. */
async function expireUntilEnd<Value>(expire: () => void, call: Promise<Value>): Promise<Value> {
  let hasEnded = false;
  const note = (): void => {
    hasEnded = true;
  };
  void call.then(note, note);
  await eventually('the call has ended', () => {
    expire();
    return hasEnded;
  });
  return call;
}

let server: PostgresServer;
let name: string;
const opened: Database[] = [];

beforeAll(async () => {
  server = await startPostgres();
  name = await server.createDatabase();
  await server.run(name, 'create table t (name text primary key)');
});

beforeEach(async () => {
  await server.run(name, 'truncate t');
});

afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});

async function open(options: Partial<PostgresOptions> = {}): Promise<Database> {
  const db = await openPostgres({ url: server.url(name), ...options });
  opened.push(db);
  return db;
}

async function openThroughRelay(options: Partial<PostgresOptions> = {}): Promise<{ db: Database; relay: TcpRelay }> {
  const relay = await startRelay(server.socketPath);
  return { db: await open({ url: `postgres://postgres@127.0.0.1:${relay.port}/${name}`, ...options }), relay };
}

const names = async (): Promise<unknown[]> => (await server.run(name, 'select name from t')).map((row) => row.name);
const insert = `insert into t values ('a')`;
const backend = 'select pg_backend_pid()::text as pid';
const pidOf = async (db: Pick<Database, 'query'>): Promise<string | undefined> =>
  (await db.query<{ pid: string }>(backend)).rows[0]?.pid;

/** The state of each of our connections at the server. */
const statesOf = async (): Promise<unknown[]> => {
  const rows = await server.run(
    name,
    `select state from pg_stat_activity where application_name = 'express-intents' and datname = '${name}'`,
  );
  return rows.map(({ state }) => state);
};

describe('a server that is unavailable', () => {
  const nobody = (to: string) => to.replace('postgres@', 'nobody:hunter2@');
  test.each<[string, (to: string) => string, RegExp]>([
    ['a port without a listener', () => 'postgres://someone:hunter2@127.0.0.1:1/x', /ECONNREFUSED/],
    ['an unknown host', () => 'postgres://someone:hunter2@nowhere.invalid/x', /ENOTFOUND|EAI_AGAIN/],
    ['an unknown role', nobody, /role "nobody" does not exist/],
    ['an unknown database', (to) => to.replace('test_', 'missing_'), /database "missing_\d+" does not exist/],
  ])('because of %s rejects every call with the reason and without the password', async (_name, urlOf, reason) => {
    const db = await open({ url: urlOf(server.url(name)) });
    for (const call of [() => db.query('select 1'), () => db.transaction(async () => undefined)]) {
      const error = await call().catch((failure) => failure);
      expect(error).toMatchObject({ ...unavailable, message: expect.stringMatching(reason) });
      expect(`${error.message} ${error.stack} ${JSON.stringify(error)} ${error.cause}`).not.toContain('hunter2');
    }
  });

  test('because of kill -9 causes no error from idle connections; after its restart the next call reconnects', async () => {
    const db = await open();
    await Promise.all(Array.from({ length: 4 }, () => db.query('select pg_sleep(0.01)')));
    await server.kill();
    try {
      for (const call of [() => db.query('select 1'), () => db.transaction((tx) => tx.query('select 1'))]) {
        await expect(call()).rejects.toMatchObject(unavailable);
      }
    } finally {
      await server.start();
    }
    await db.query(insert);
    expect(await names()).toEqual(['a']);
  });

  test('because of SIGSTOP rejects calls after their timeout; after SIGCONT the next one succeeds', async () => {
    const expire = holdBounds();
    const db = await open(bounds);
    await db.query('select 1');
    server.pause();
    try {
      const first = db.query(insert);
      const calls = Promise.allSettled([first, db.query(insert), db.transaction((tx) => tx.query(insert))]);
      await expireUntilEnd(expire, first).catch(() => undefined);
      for (const call of await expireUntilEnd(() => expire(bounds.connectMs), calls)) {
        expect(call).toMatchObject({ status: 'rejected', reason: unavailable });
      }
    } finally {
      server.resume();
    }
    expect((await db.query('select 1::float8 as one')).rows).toEqual([{ one: 1 }]);
  });

  test('because of SIGSTOP during a transaction ends it after its timeout, and can be closed', async () => {
    const expire = holdBounds();
    const db = await open(bounds);
    const work = db.transaction(async (tx) => {
      await tx.query(insert);
      server.pause();
      await expireUntilEnd(expire, tx.query('select 1'));
    });
    try {
      await expect(work).rejects.toMatchObject(unavailable);
      await db.close();
    } finally {
      server.resume();
    }
    expect(await names()).toEqual([]);
  });
});

test('close ends within closeMs while the server is stopped, rejects running calls, and lets the process exit', async () => {
  const child = start(await compile(new URL('./close-while-asleep-program.ts', import.meta.url)), [server.url(name)]);
  expect(await child.next()).toBe('open');
  server.pause();
  try {
    child.process.stdin?.write('close\n');
    expect(await child.next()).toBe('ledger_unavailable');
    await child.ended;
  } finally {
    server.resume();
  }
});

describe('a connection that breaks', () => {
  const outcomes = [
    ['before the commit arrives', 'before', []],
    ['before the response to the commit arrives', 'after', ['a']],
  ] as const;

  test.each(outcomes)('%s ends the transaction with its outcome', async (_name, moment, written) => {
    const { db, relay } = await openThroughRelay();
    relay.cutAt('commit', moment);
    const work = db.transaction(async (tx) => (await tx.query(insert)).rowCount);
    if (moment === 'after') expect(await work).toBe(1);
    else await expect(work).rejects.toMatchObject({ ...unavailable, message: expect.stringContaining('rolled back') });
    expect(await names()).toEqual(written);
    await db.transaction((tx) => tx.query(`insert into t values ('b')`));
    expect(await names()).toEqual([...written, 'b']);
  });

  test.each(outcomes)(
    '%s, while the server cannot be reached, says that the outcome is unknown',
    async (...outcome) => {
      const [, moment, written] = outcome;
      const { db, relay } = await openThroughRelay();
      relay.cutAt('commit', moment, true);
      await expect(db.transaction((tx) => tx.query(insert))).rejects.toMatchObject({
        ...unavailable,
        message: expect.stringContaining('lost during the commit, so the transaction may or may not be committed'),
      });
      expect(await names()).toEqual(written);
    },
  );

  test('while the server commits waits for the outcome', async () => {
    await server.run(
      name,
      `create function hold() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock(1); return null; end';
      create table held (name text);
      create constraint trigger hold after insert on held deferrable initially deferred for each row execute function hold()`,
    );
    const { db, relay } = await openThroughRelay();
    const other = await open();
    const seen = async (sql: string): Promise<boolean> =>
      (await server.run(name, `select from pg_stat_activity where datname = '${name}' and ${sql}`)).length > 0;
    let work: Promise<string> | undefined;
    await other.transaction(async (tx) => {
      await tx.query('select pg_advisory_xact_lock(1)');
      work = db.transaction(async (held) => {
        await held.query(`insert into held values ('a')`);
        return 'done';
      });
      await eventually(() => seen(`wait_event = 'advisory'`));
      relay.cut();
      await eventually('it reads the outcome', () => seen(`query like '%pg_xact_status%' and pid <> pg_backend_pid()`));
    });
    expect(await work).toBe('done');
    expect(await server.run(name, 'select name from held')).toEqual([{ name: 'a' }]);
  });

  test('during the commit of a failed transaction reports the failure', async () => {
    const { db } = await openThroughRelay();
    const work = db.transaction((tx) => tx.query('select 1 / 0').catch(() => undefined));
    await expect(work).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringContaining('division by zero'),
    });
  });

  test.each(['begin', 'insert', 'rollback'])('at %s ends the transaction with one error', async (bytes) => {
    const { db, relay } = await openThroughRelay();
    relay.cutAt(bytes, 'before');
    const siteError = new Error('no');
    const work = db.transaction(async (tx) => {
      await tx.query(insert);
      throw siteError;
    });
    if (bytes === 'rollback') await expect(work).rejects.toBe(siteError);
    else await expect(work).rejects.toMatchObject(unavailable);
    expect(await names()).toEqual([]);
    await db.query('select 1');
  });

  test('silently costs one call, not one for each connection', async () => {
    const expire = holdBounds();
    const { db, relay } = await openThroughRelay(bounds);
    await Promise.all(Array.from({ length: 5 }, () => db.query('select pg_sleep(0.05)')));
    expect(relay.open).toBe(5);
    relay.freeze();
    await expect(expireUntilEnd(expire, db.query('select 1'))).rejects.toMatchObject(unavailable);
    relay.thaw();
    for (let call = 0; call < 6; call += 1) await db.query('select 1');
  });

  test('while it connects costs one call', async () => {
    const expire = holdBounds();
    const { db, relay } = await openThroughRelay(bounds);
    relay.freeze();
    const call = db.query('select 1');
    await eventually(() => relay.open === 1);
    const expireConnect = (): void => expire(bounds.connectMs);
    await expect(expireUntilEnd(expireConnect, call)).rejects.toMatchObject(unavailable);
    relay.thaw();
    await db.query('select 1');
  });
});

describe('a server that terminates a connection', () => {
  test('rejects the call that runs on it, and the pool replaces an idle one', async () => {
    const db = await open();
    const end = (pid: unknown) => server.run(name, 'select pg_terminate_backend($1::integer)', [pid]);
    const idle = await pidOf(db);
    await end(idle);
    await eventually(async () => (await statesOf()).length === 0);
    expect(await pidOf(db)).not.toBe(idle);

    const work = db.transaction(async (tx) => {
      await tx.query(insert);
      const pid = await pidOf(tx);
      await Promise.all([tx.query('select pg_sleep(600)'), end(pid)]);
    });
    await expect(work).rejects.toMatchObject(unavailable);

    const pausing = db.transaction(async (tx) => {
      await tx.query(insert);
      await end(await pidOf(tx));
      await wait(50);
    });
    await expect(pausing).rejects.toMatchObject(unavailable);
    expect(await names()).toEqual([]);
    await db.query('select 1');
  });

  test('because its transaction was idle for too long releases its locks', async () => {
    const db = await open({ idleInTransactionMs: 100 });
    const work = db.transaction(async (tx) => {
      await tx.query(insert);
      await tx.query('lock table t');
      await eventually(
        async () =>
          (await server.run(name, 'select from pg_locks where not granted')).length === 0 &&
          (await statesOf()).length === 0,
      );
    });
    await expect(work).rejects.toMatchObject(unavailable);
    await db.query(insert);
    expect(await names()).toEqual(['a']);
  });
});

describe('a statement that exceeds its timeout', () => {
  test.each(['alone', 'in a transaction'])(
    'is canceled by the server, %s, and its connection can be reused',
    async (how) => {
      const statementMs = 1_000;
      // The driver's own timeout, which follows a second later.
      holdTimeouts(statementMs + 1_000);
      const db = await open({ statementMs });
      const pid = await pidOf(db);
      const sleep = 'select pg_sleep(600)';
      const call = how === 'alone' ? db.query(sleep) : db.transaction((tx) => tx.query(sleep));
      await expect(call).rejects.toMatchObject({
        ...unavailable,
        message: expect.stringContaining('statement timeout'),
      });
      // The server sends the error before it reports that the connection is idle.
      await eventually(async () => expect(await statesOf()).not.toContain('active'));
      expect(await pidOf(db)).toBe(pid);
    },
  );
});

test('a connection whose transaction failed to begin is not left in a failed transaction', async () => {
  const db = await open();
  const pid = await pidOf(db);
  const { query } = pg.Client.prototype;
  const spy = jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...args: unknown[]
  ) {
    const [first, ...rest] = args;
    const failing = typeof first === 'string' ? first.replace(/^begin;/, 'begin; select 1 / 0;') : first;
    return Reflect.apply(query, this, [failing, ...rest]);
  });
  await expect(db.transaction((tx) => tx.query('select 1'))).rejects.toMatchObject({ code: expect.any(String) });
  spy.mockRestore();
  expect(await pidOf(db)).toBe(pid);
  expect(await db.transaction((tx) => tx.query('select 1'))).toMatchObject({ rowCount: 1 });
});

test('concurrent statements of a transaction each have the whole timeout', async () => {
  // A busy machine can delay one statement by seconds.
  const db = await open({ statementMs: 3_000 });
  const sleeps = await db.transaction((tx) =>
    Promise.all(Array.from({ length: 16 }, () => tx.query('select pg_sleep(0.25)'))),
  );
  expect(sleeps).toHaveLength(16);
});

describe('a connection limit', () => {
  test('of this process rejects a call that waits for too long; the next one succeeds when connections are free', async () => {
    const connectMs = 60_007;
    const expire = holdTimeouts(connectMs);
    const db = await open({ connectMs });
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const works = Array.from({ length: 10 }, () => db.transaction(() => held));
    await eventually(async () => (await statesOf()).filter((state) => state === 'idle in transaction').length === 10);
    const errors: unknown[] = [];
    void db.query('select 1').catch((failure) => errors.push(failure));
    await eventually('the call times out', () => {
      expire();
      return errors.length > 0;
    });
    expect(errors).toMatchObject([unavailable]);
    const waiting = db.query('select 1::float8 as one');
    release();
    expect((await waiting).rows).toEqual([{ one: 1 }]);
    await Promise.all(works);
  });

  test('of the server rejects every call; the next one succeeds when there is room', async () => {
    await server.run(name, `create role crowded login connection limit 1; grant all on t to crowded`);
    const url = server.url(name).replace('postgres@', 'crowded@');
    const [first, second] = [await open({ url }), await open({ url })];
    await first.query('select 1');
    for (const call of [() => second.query('select 1'), () => second.transaction(async () => undefined)]) {
      await expect(call()).rejects.toMatchObject({ ...unavailable, message: expect.stringContaining('53300') });
    }
    await first.close();
    await eventually(() =>
      second.query(insert).then(
        () => true,
        () => false,
      ),
    );
    expect(await names()).toEqual(['a']);
  });
});

test('a server that became read-only, such as a former primary, causes a new connection', async () => {
  const db = await open();
  const pid = await pidOf(db);
  await server.run(name, `alter database ${name} set default_transaction_read_only = on`);
  const readOnly = await open();
  await expect(readOnly.query(insert)).rejects.toMatchObject(unavailable);
  await server.run(
    name,
    `begin; set transaction read write; alter database ${name} reset default_transaction_read_only; commit`,
  );
  await readOnly.query(insert);
  expect(await pidOf(db)).toBe(pid);
});

test('a pooler in transaction mode can be used', async () => {
  const pooler = await startPooler(server.socketPath, 'postgres', name);
  const db = await open({ url: `postgres://postgres@127.0.0.1:${pooler.port}/${name}` });
  for (let round = 0; round < 5; round += 1) {
    await db.query('insert into t values ($1)', [`alone${round}`]);
    await db.transaction(async (tx) => {
      await tx.query('insert into t values ($1)', [`held${round}`]);
      await Promise.all([db.query('select name from t where name = $1', ['x']), tx.query('select 1')]);
    });
  }
  expect(await names()).toHaveLength(10);
  expect(pooler.switches).toBeGreaterThan(0);
  expect(new Set(pooler.refused)).toEqual(new Set(['statement_timeout']));
  // The timeouts of a transaction are set at the server, and end with it.
  const statementMs = 200;
  // The driver's own timeout, which follows a second later.
  holdTimeouts(statementMs + 1_000);
  const hasty = await open({ url: `postgres://postgres@127.0.0.1:${pooler.port}/${name}`, statementMs });
  await expect(hasty.transaction((tx) => tx.query('select pg_sleep(30)'))).rejects.toMatchObject({
    ...unavailable,
    message: expect.stringContaining('statement timeout'),
  });
  const settings = `select current_setting('statement_timeout') as a, current_setting('idle_in_transaction_session_timeout') as b`;
  for (let round = 0; round < 4; round += 1) expect((await db.query(settings)).rows).toEqual([{ a: '0', b: '0' }]);
});
