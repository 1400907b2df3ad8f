import { setTimeout as wait } from 'node:timers/promises';
import { EventSource } from 'eventsource';
import pg from 'pg';
import { Browser } from '../support/browser/browser.js';
import { eventually } from '../support/eventually.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { HealthLog } from './health-log.js';
import { type OutageFleet, startOutageFleet } from './outage-fleet.js';
import { SteadyCustomers } from './steady-customers.js';

// The database of three processes fails in several ways while customers arrive, and the site recovers without a restart.
// OUTAGES=all runs all of them, OUTAGE_MS=30000 sets their duration, RATE the customers per second.

const leastMs = Number(process.env.OUTAGE_MS ?? 0);
const rate = Number(process.env.RATE ?? 20);
const isWhole = process.env.OUTAGES === 'all';
const size = 3;

interface Outage {
  readonly begin: () => Promise<unknown> | unknown;
  readonly end: () => Promise<unknown> | unknown;
}

let fleet: OutageFleet;
let health: HealthLog;
let customers: SteadyCustomers;
let coming: Promise<void>;
const tabs: { readonly source: EventSource; breaks: number }[] = [];

beforeAll(async () => {
  fleet = await startOutageFleet(size);
  health = new HealthLog(fleet.origins);
  customers = new SteadyCustomers(fleet.origin, fleet.simulator.wallet('Ada'));
  for (let index = 0; index < 2 * size; index += 1) tabs.push(await openTab(index % size));
  coming = customers.come(rate);
});

afterAll(async () => {
  for (const { source } of tabs) source.close();
  await customers?.leave();
  await coming;
  await health?.close();
});

async function begin(mode: string) {
  const browser = new Browser(fleet.origin);
  let secret = '';
  await eventually('an intent is created', async () => {
    const { status, body } = await browser.send('POST', '/intent', { mode });
    expect([status, body.code]).toEqual([201, undefined]);
    secret = String(body.client_secret);
  });
  return { browser, secret, id: intentIdOf(secret) };
}

/** A tab with the event stream of an unpaid intent. */
async function openTab(index: number) {
  const { id, browser } = await begin('payment');
  return listen(index, id, browser);
}

function listen(index: number, id: string, browser: Browser) {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const source = new EventSource(`${fleet.origins[index]}/intent/${id}/events`, {
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init?.headers, cookie } }),
  });
  const tab = { source, breaks: 0, isSubmitted: false };
  source.addEventListener('error', () => {
    tab.breaks += 1;
  });
  source.addEventListener('intent_submitted', () => {
    tab.isSubmitted = true;
    source.close();
  });
  return tab;
}

/** Whether the last health check of each process after `sinceMs` reported this state of the ledger. */
const areAll = (ledger: RegExp, sinceMs = 0) => {
  return (): boolean =>
    health.latest(size).every((sample) => sample && sample.atMs > sinceMs && ledger.test(sample.ledger));
};

const refusedSince = (sinceMs: number) =>
  customers.answers.filter(({ atMs, how }) => atMs >= sinceMs && how === '503 ledger_unavailable');

/** Runs SQL as superuser, for which Postgres reserves connections. A connection that it rejects occupies one until it has ended. */
async function asAdmin(sql: string): Promise<readonly Record<string, unknown>[]> {
  let rows: readonly Record<string, unknown>[] = [];
  await eventually('an administrator can connect', async () => {
    rows = await fleet.server.run('postgres', sql);
  });
  return rows;
}
const terminateAll = () => asAdmin(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'shop'`);
const others: pg.Client[] = [];

/** Another user takes all connections, including those of the sites. */
async function takeAllConnections(): Promise<void> {
  const take = async (): Promise<boolean> => {
    const client = new pg.Client({ connectionString: fleet.server.url('postgres').replace('postgres@', 'greedy@') });
    client.on('error', () => undefined);
    others.push(client);
    return client.connect().then(
      () => true,
      () => false,
    );
  };
  const fill = async (): Promise<void> => {
    while ((await Promise.all(Array.from({ length: 10 }, take))).every(Boolean));
  };
  await asAdmin('create role greedy login');
  const left = `select from pg_stat_activity where usename = 'shop'`;
  do {
    await fill();
    await terminateAll();
    await fill();
  } while ((await asAdmin(left)).length > 0);
}

const outages: Record<string, Outage> = {
  'killed with kill -9': { begin: () => fleet.server.kill(), end: () => fleet.server.start() },
  'behind a frozen connection': {
    begin: () => fleet.relay.freeze(),
    end: () => fleet.relay.thaw(),
  },
  'behind a cut connection': { begin: () => fleet.relay.sever(), end: () => fleet.relay.restore() },
  'without a free connection': {
    begin: takeAllConnections,
    end: () => Promise.all(others.splice(0).map((client) => client.end())),
  },
  'read-only, as after a failover': {
    begin: async () => {
      await asAdmin(`alter database ${fleet.database} set default_transaction_read_only = on`);
      await terminateAll();
    },
    end: () => asAdmin(`alter database ${fleet.database} reset default_transaction_read_only`),
  },
  'with a full disk': {
    begin: () =>
      fleet.sql(`
        create function public.full_disk() returns trigger language plpgsql as $$
        begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$;
        create trigger full_disk before insert on express_intents.intents
          for each row execute function public.full_disk();
        create trigger full_disk before insert or update on express_intents.payments
          for each row execute function public.full_disk();
        create trigger full_disk before insert or update on express_intents.logins
          for each row execute function public.full_disk()`),
    end: () => fleet.sql('drop function public.full_disk() cascade'),
  },
};

/** The outages of the short form. test/ledger covers the calls of the others. */
const short = ['killed with kill -9', 'behind a frozen connection', 'without a free connection'];
const chosen = Object.entries(outages).filter(([name]) => isWhole || short.includes(name));

describe.each(chosen)('a database %s', (name, outage) => {
  test(
    'is reported by the health check, is a 503 for visitors, and causes no fault after its end',
    async () => {
      await eventually('all are healthy', areAll(/^ok/));
      const login = await begin('login');
      await fleet.simulator.wallet('Ben').login(login.secret);
      const linesBefore = fleet.processes.map((_, index) => fleet.linesOf(index).length);
      const breaksBefore = tabs.map(({ breaks }) => breaks);

      const beganMs = performance.now();
      let downMs = beganMs;
      let duringMs = beganMs;
      try {
        await outage.begin();
        downMs = performance.now();
        await eventually('all are down', areAll(/^down ledger_unavailable/, downMs));
        await expectRoutesWithoutDatabase();
        const session = await customers.ask(login.browser, '/session', { id: login.id });
        expect([session.how, login.browser.cookies.has('connect.sid')]).toEqual(['503 ledger_unavailable', false]);
        // Requests during the outage are answered during the outage.
        await eventually('a customer is refused', () => refusedSince(downMs).length > 0);
        await wait(Math.max(0, beganMs + leastMs - performance.now()));
        duringMs = performance.now();
      } finally {
        await outage.end();
      }
      const endedMs = performance.now();
      await eventually('all are healthy again', areAll(/^ok/, endedMs));
      expect(tabs.map(({ breaks }) => breaks)).toEqual(breaksBefore);

      await expectRecovered(login);
      if (leastMs > 0) {
        const lines = fleet.processes.map((_, index) => fleet.linesOf(index).slice(linesBefore[index]));
        const unhealthy = health.firstAfter(downMs, size, ({ status }) => status !== 'ok');
        const down = health.firstAfter(downMs, size, ({ ledger }) => ledger === 'down ledger_unavailable');
        const well = health.firstAfter(endedMs, size, ({ status }) => status === 'ok');
        const requests = customers.answers.filter(({ atMs }) => atMs >= beganMs && atMs <= duringMs);
        const refused = refusedSince(beganMs);
        const waits = requests.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
        const report = {
          ...{ name, unhealthy, down, well, requests: requests.length, refused: refused.length },
          waitedMs: { half: Math.round(waits[waits.length >> 1] ?? 0), most: Math.round(waits.at(-1) ?? 0) },
          ...{ lines, lostLogins: customers.lostLogins },
        };
        process.stderr.write(`${JSON.stringify(report, undefined, 1)}\n`);
      }
    },
    300_000 + leastMs,
  );
});

async function expectRoutesWithoutDatabase(): Promise<void> {
  for (const [index, origin] of fleet.origins.entries()) {
    for (const path of ['/.well-known/service-payments.json', `/status/${'1'.repeat(32)}`]) {
      const { status } = await fetch(origin + path);
      expect([index, path, status]).toEqual([index, path, 200]);
    }
  }
}

/** Expects that an event of one process reaches a tab at another, and that the login can be completed. */
async function expectRecovered(login: Awaited<ReturnType<typeof begin>>): Promise<void> {
  const listening = `select from pg_stat_activity where usename = 'shop' and query in ('listen express_intents', 'select 1')`;
  await eventually('all listen again', async () => (await fleet.sql(listening)).length === size);
  const { id, secret, browser } = await begin('payment');
  const tab = listen(1, id, browser);
  await fleet.simulator.wallet('Ben').pay(secret);
  await eventually('a tab receives the event', () => tab.isSubmitted);
  let current = login;
  // The session store detects the end of the outage separately, and may need a retry.
  await eventually('a login is completed', async () => {
    const { how } = await customers.ask(current.browser, '/session', { id: current.id });
    if (how === '200') return;
    // The login was completed, but the database failed before the session was saved: the visitor logs in again.
    if (how === '404 intent_not_found') {
      current = await begin('login');
      await fleet.simulator.wallet('Ben').login(current.secret);
    }
    throw new Error(`The login was answered ${how}.`);
  });
  // Each process has a session store of its own. A connection from before a freeze fails once, when its timeout has passed.
  await eventually('the account is shown', async () => {
    return (await current.browser.send('GET', '/account')).status === 200;
  });
}

test('connections that an administrator terminates are replaced without an outage', async () => {
  await eventually('all are healthy', areAll(/^ok/));
  const login = await begin('login');
  await fleet.simulator.wallet('Ben').login(login.secret);
  await terminateAll();
  const endedMs = performance.now();
  await eventually('all are healthy', areAll(/^ok/, endedMs));
  await expectRecovered(login);
});

test('after all outages nothing is lost or doubled, and no process has ended', async () => {
  await customers.leave();
  await coming;
  await health.close();
  expect(health.samples.filter(({ status }) => status === 'gone')).toEqual([]);
  const { created, paid, faults, logins } = customers;
  expect(faults).toEqual([]);
  const accepted = (table: string): string =>
    `select intent_id from express_intents.${table} where state <> 'creating' and intent_id = any($1)`;
  const known = await fleet.sql(`${accepted('payments')} union ${accepted('logins')}`, [created]);
  expect(known).toHaveLength(created.length);
  const settled = `select from express_intents.payments where intent_id = any($1) and state = 'settled'`;
  await eventually('all is settled', async () => (await fleet.sql(settled, [paid])).length === paid.length);
  const fulfilled = await fleet.sql('select intent_id from public.fulfilled where intent_id = any($1)', [paid]);
  expect(fulfilled.map(({ intent_id: id }) => id).sort()).toEqual([...paid].sort());
  expect(paid.length).toBeGreaterThan(0);
  expect(logins).toBeGreaterThan(0);
  for (const [index, { process: child }] of fleet.processes.entries()) {
    expect(fleet.printed(index + 1)).toMatch(
      /^express-intents: (?:The|Cannot connect to the) database.*\. Until it works again/m,
    );
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    expect(fleet.printed(index + 1)).not.toMatch(/CRASHED|Warning|nhandled/);
  }
});
