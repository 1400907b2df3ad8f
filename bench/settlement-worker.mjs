// The measured process of settlement.mjs: settles due payments, polls unpaid ones, or runs the jobs of a queue. A payment or job
// inserts one row. At most six hooks or jobs run at once.
import express from 'express';
import pg from 'pg';
import { composeRouter } from '../build/router/intent-router.js';
import { routerLedger } from '../build/router/ledger.js';
import { cpuMsOfTree } from './machine.mjs';
import { site } from './measure.mjs';
import { handleCalls } from './process.mjs';

/** The default of the package. */
const concurrency = 6;
const insert = 'insert into effects (id) values ($1)';
const dayMs = 86_400_000;

let roundTrips = 0;
let mayName = true;
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function countedQuery(given, ...others) {
  roundTrips += 1;
  const isUnnamed = !mayName && given.name !== undefined;
  return query.call(this, isUnnamed ? { ...given, name: undefined } : given, ...others);
};

/** Starts a router. @param timing of its ledger */
async function startRouter({ url, databaseUrl }, options, timing) {
  const never = Number.MAX_SAFE_INTEGER;
  const router = composeRouter(
    {
      sequencer: { url },
      button: { walletUrl: 'https://wallet.example/open' },
      login: { verifierSecret: site.verifierSeed, domain: site.domain },
      destination: site.destination,
      payment: () => ({ amount: '4.50', currency: 'usd' }),
      secret: 's'.repeat(40),
      ledger: { url: databaseUrl },
      limits: { requests: { intent: never } },
      ...options,
    },
    (parts) => routerLedger(parts, timing),
  );
  await router.ready();
  return router;
}

async function createPayment(port) {
  const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  const init = { method: 'POST', headers, body: '{"mode":"payment"}' };
  const response = await fetch(`http://127.0.0.1:${port}/intent`, init);
  const body = await response.text();
  if (response.status !== 201) throw new Error(body);
}

/** Creates payments over HTTP. They are due at once, but the router searches for due payments once a day. */
async function createPayments({ count, ...places }) {
  const router = await startRouter(places, {}, { watchFirstMs: 1, roundMs: dayMs });
  const server = express().use(router).listen(0);
  const { port } = server.address();
  let left = count;
  const create = async () => {
    for (; left > 0; ) {
      left -= 1;
      await createPayment(port);
    }
  };
  await Promise.all(Array.from({ length: 32 }, create));
  await router.close();
  server.closeAllConnections();
  server.close();
}

/** Each creates the work, and returns a function that starts it and calls `onDone` after each payment or job. */
const variants = {
  payments: async (places) => {
    await createPayments(places);
    const onPaid = async ({ id }, { tx }) => void (await tx.query(insert, [id]));
    return (onDone) => {
      const onEvent = ({ type }) => type === 'payment_settled' && onDone();
      return startRouter(places, { onPaid, onEvent, logger: false });
    };
  },
  /** The next poll follows after a day. */
  polls: async (places) => {
    await createPayments(places);
    return (onDone) => {
      const onEvent = ({ type }) => type === 'upstream_call' && onDone();
      return startRouter(places, { onPaid: () => undefined, onEvent }, { watchFirstMs: dayMs });
    };
  },
  graphileWorker: async ({ databaseUrl, count }) => {
    const { makeWorkerUtils, run, Logger } = await import('graphile-worker');
    const logger = new Logger(() => () => undefined);
    const utils = await makeWorkerUtils({ connectionString: databaseUrl, logger });
    await utils.migrate();
    await utils.addJobs(Array.from({ length: count }, (_, id) => ({ identifier: 'insert', payload: { id } })));
    await utils.release();
    const taskList = { insert: async ({ id }, helpers) => void (await helpers.query(insert, [id])) };
    return async (onDone) => {
      const settings = { connectionString: databaseUrl, concurrency, taskList, logger, noHandleSignals: true };
      (await run(settings)).events.on('job:success', onDone);
    };
  },
  pgBoss: async ({ databaseUrl, count }) => {
    const { default: PgBoss } = await import('pg-boss');
    const boss = new PgBoss(databaseUrl);
    await boss.start();
    await boss.createQueue('insert');
    await boss.insert(
      'insert',
      Array.from({ length: count }, (_, id) => ({ data: { id } })),
    );
    const pool = new pg.Pool({ connectionString: databaseUrl, max: concurrency });
    return async (onDone) => {
      // The shortest interval that pg-boss accepts.
      const options = { batchSize: 20, pollingIntervalSeconds: 0.5 };
      const work = async (jobs) => {
        for (const { data } of jobs) {
          await pool.query(insert, [data.id]);
          onDone();
        }
      };
      for (let worker = 0; worker < concurrency; worker += 1) await boss.work('insert', options, work);
    };
  },
};

/** Creates payments at a constant rate. They settle with the timing of the package. @returns a function that ends it */
async function startSoak({ perSecond, ...places }) {
  const router = await startRouter(places, {
    onPaid: async ({ id }, { tx }) => void (await tx.query(insert, [id])),
  });
  const server = express().use(router).listen(0);
  const { port } = server.address();
  let created = 0;
  const create = async () => {
    await createPayment(port);
    created += 1;
  };
  const ticksPerSecond = 20;
  const timer = setInterval(() => {
    for (let n = 0; n < perSecond / ticksPerSecond; n += 1) void create();
  }, 1_000 / ticksPerSecond);
  return async () => {
    clearInterval(timer);
    for (let effects = -1; ; ) {
      await new Promise((resolve) => setTimeout(resolve, 10_000));
      const { rows } = await db.query('select count(*)::int as effects from effects');
      if (rows[0].effects === created || rows[0].effects === effects) return { created, effects: rows[0].effects };
      effects = rows[0].effects;
    }
  };
}

let db;
let start;
/** Whether each payment or job inserts a row. */
let hasEffects;

async function read(postgresPid) {
  const { user, system } = process.cpuUsage();
  const read = { atMs: performance.now(), processUs: user + system, postgresMs: cpuMsOfTree(postgresPid), roundTrips };
  const { rows } = await db.query(`select pg_current_wal_insert_lsn() - '0/0' as bytes`);
  return { ...read, walBytes: Number(rows[0].bytes) };
}

const openDatabase = async ({ databaseUrl }) => {
  db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  await db.query('create table effects (id text primary key)');
};
let endSoak;

handleCalls({
  soak: async (options) => {
    await openDatabase(options);
    endSoak = await startSoak(options);
  },
  /** @returns how many payments were created and fulfilled */
  endSoak: () => endSoak(),
  /** @param isPooled whether statements are sent without names, as behind a pooler */
  prepare: async ({ variant, isPooled = false, ...places }) => {
    mayName = !isPooled;
    await openDatabase(places);
    hasEffects = variant !== 'polls';
    start = await variants[variant](places);
    await db.query('vacuum analyze');
    await db.query('checkpoint');
  },
  /** @returns the cost of one payment or job */
  measure: async ({ warmUp, payments, postgresPid }) => {
    let [done, first] = [0, undefined];
    await new Promise((resolve, reject) => {
      start(() => {
        done += 1;
        if (done === warmUp) first = read(postgresPid);
        if (done === warmUp + payments) resolve();
      }).catch(reject);
    });
    const [before, after] = [await first, await read(postgresPid)];
    const { rows } = await db.query('select count(*)::int as effects from effects');
    if (hasEffects && rows[0].effects < done) throw new Error(`${done} done, but ${rows[0].effects} effects.`);
    const each = (key) => (after[key] - before[key]) / payments;
    return {
      perSecond: 1_000 / each('atMs'),
      processUs: each('processUs'),
      postgresUs: each('postgresMs') * 1_000,
      walBytes: each('walBytes'),
      roundTrips: each('roundTrips'),
    };
  },
});
