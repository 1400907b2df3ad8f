import type { Database } from '../../src/ledger/database/database.js';
import { openDatabase } from '../../src/ledger/database/open-database.js';
import { type Simulator, startSimulator } from '../../src/simulator/index.js';
import { Browser } from '../support/browser/browser.js';
import { newDatabaseUrl } from '../support/databases/databases.js';
import { eventually } from '../support/eventually.js';
import { compile, start } from '../support/runner/child-program.js';
import { destination, domain, verifierSecret } from '../support/sites/site.js';
import { createIntent, currentUserId } from './support/browsers.js';

// A shop of two processes that share only a database.

const loginTtlMs = 120_000;
let simulator: Simulator;
let db: Database;
/** The origins of the two processes. */
let origins: readonly [string, string];

beforeAll(async () => {
  simulator = await startSimulator();
  const databaseUrl = await newDatabaseUrl('postgres');
  db = await openDatabase({ database: { kind: 'postgres', url: databaseUrl } });
  await db.query('create table fulfilled (intent text, order_number int)');
  const program = await compile(new URL('./support/site-process.ts', import.meta.url));
  const settings = {
    databaseUrl,
    sequencerUrl: simulator.url,
    verifierSecret,
    destination,
    domain,
    loginTtlMs,
  };
  const children = [1, 2].map(() => start(program, [JSON.stringify(settings)]));
  const [a, b] = (await Promise.all(children.map((child) => child.next()))) as { origin: string }[];
  origins = [a?.origin ?? '', b?.origin ?? ''];
  simulator.setLocalDomain(domain, origins[0]);
});
afterAll(async () => {
  await db.close();
  await simulator.close();
});

/** A copy of a browser, with its current cookies, at one of the processes. */
function at(n: 0 | 1, browser: Browser): Browser {
  const copy = new Browser(origins[n]);
  for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
  return copy;
}

/** Runs this a hundred times concurrently, alternating between the processes. */
const hundredTimes = <Answer>(send: (n: 0 | 1) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: 100 }, (_, n) => send((n % 2) as 0 | 1)));

const complete = (browser: Browser, id: string) => browser.send('POST', '/session', { id });

/** As the button: it repeats a completion after 503 and 504, the answers of a busy machine. */
async function completeUntilAnswered(browser: Browser, id: string) {
  for (;;) {
    const answer = await complete(browser, id);
    if (![503, 504].includes(answer.status)) return answer;
  }
}

const stateOf = async (id: string): Promise<unknown> =>
  (await db.query<{ state: string }>('select state from express_intents.payments where intent_id = $1', [id])).rows[0]
    ?.state;

async function untilState(id: string, state: string): Promise<void> {
  await eventually(async () => expect(await stateOf(id)).toBe(state));
}

/** Moves the creation of an intent into the past. The database rejects that, except for replication. */
async function age(id: string, ms: number): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query("set local session_replication_role = 'replica'");
    for (const [table, key] of [
      ['intents', 'id'],
      ['payments', 'intent_id'],
      ['logins', 'intent_id'],
    ]) {
      const older = `created_at = created_at - $2 * interval '1 millisecond'`;
      await tx.query(`update express_intents.${table} set ${older} where ${key} = $1`, [id, ms]);
    }
  });
}

const fulfilled = async (intent: string): Promise<readonly unknown[]> =>
  (await db.query<{ order_number: number }>('select order_number from fulfilled where intent = $1', [intent])).rows.map(
    ({ order_number: number }) => number,
  );

/** Creates an intent with an `Idempotency-Key`. */
async function createWith(key: string, browser: Browser, body: object) {
  const { status, body: answer } = await browser.send('POST', '/intent', body, { 'idempotency-key': key });
  return { status, code: answer.code, secret: answer.client_secret as string | undefined };
}

/** As the button: it repeats a request with the same key after 503 and 504, the answers of a busy machine. */
async function createUntilAnswered(key: string, browser: Browser, body: object) {
  for (;;) {
    const answer = await createWith(key, browser, body);
    if (![503, 504].includes(answer.status)) return answer;
  }
}

const order = (article: string, number: number, more: object = {}) => ({ order: { article, number, ...more } });

describe('replay of a completed login, in two processes', () => {
  test('is rejected for all but one of a hundred concurrent requests', async () => {
    const browser = new Browser(origins[0]);
    const { secret, id } = await createIntent(browser);
    await simulator.wallet('Ada').login(secret);
    const answers = await hundredTimes((n) => completeUntilAnswered(at(n, browser), id));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...new Array(99).fill(404)]);
    expect(answers.filter(({ headers }) => /intent-session=/.test(headers.getSetCookie().join()))).toHaveLength(1);
    for (const n of [0, 1] as const) {
      expect((await complete(at(n, browser), id)).status).toBe(404);
      expect(await currentUserId(at(n, browser))).toBeNull();
    }
  });

  test('is rejected from another browser at the other process', async () => {
    const browser = new Browser(origins[0]);
    const { secret, id } = await createIntent(browser);
    await simulator.wallet('Ada').login(secret);
    const stranger = new Browser(origins[1]);
    await createIntent(stranger);
    expect((await complete(stranger, id)).status).toBe(404);
    expect((await complete(at(1, browser), id)).status).toBe(200);
  });
});

describe('QR relay after the TTL, in two processes', () => {
  test('starts no session, at either process', async () => {
    const attacker = new Browser(origins[0]);
    const { secret, id } = await createIntent(attacker);
    await age(id, loginTtlMs);
    await simulator.wallet('Ada').login(secret);
    for (const n of [0, 1] as const) expect((await complete(at(n, attacker), id)).status).toBe(404);
  });
});

describe('double spend of one payment on two orders', () => {
  test('fulfills one order once, for any requests at any process', async () => {
    const browser = new Browser(origins[0]);
    const paid = await createIntent(browser, order('kettle', 1));
    const unpaid = await createIntent(at(1, browser), order('pot', 2));
    await simulator.wallet('Ada').pay(paid.secret);
    const statuses = await hundredTimes(async (n) => {
      const buyer = at(n, browser);
      // All requests that cause a poll: the status, the paid pages, and the same payment for the other order.
      const [, goods] = await Promise.all([
        buyer.send('GET', `/status/${paid.id}`),
        buyer.send('GET', '/goods/pot'),
        buyer.send('GET', '/goods/kettle'),
        buyer.send('GET', `/status/${unpaid.id}?intent=${paid.id}`),
      ]);
      return goods.status;
    });
    await untilState(paid.id, 'settled');
    expect(new Set(statuses)).toEqual(new Set([402]));
    // A second payment of the same intent changes nothing.
    await simulator.wallet('Ada').pay(paid.secret);
    await browser.send('GET', `/status/${paid.id}`);
    expect([await fulfilled(paid.id), await fulfilled(unpaid.id)]).toEqual([[1], []]);
    expect(await stateOf(unpaid.id)).toBe('created');
    expect(await at(1, browser).send('GET', '/goods/kettle')).toMatchObject({ status: 200, body: { paid: paid.id } });
    expect((await at(0, browser).send('GET', '/goods/pot')).status).toBe(402);
  });

  test('opens nothing for another browser that knows the payment', async () => {
    const browser = new Browser(origins[0]);
    const { secret, id } = await createIntent(browser, order('kettle', 3));
    await simulator.wallet('Ada').pay(secret);
    await browser.send('GET', '/goods/kettle');
    await untilState(id, 'settled');
    const stranger = new Browser(origins[1]);
    await createIntent(stranger, order('kettle', 4));
    expect((await stranger.send('GET', `/goods/kettle?intent=${id}`)).status).toBe(402);
    expect((await new Browser(origins[1]).send('GET', '/goods/kettle')).status).toBe(402);
  });
});

describe('intent swapped for a cheaper one, in the ledger', () => {
  test('opens nothing for a smaller amount, another currency or another resource', async () => {
    const cheapOrders = [
      order('kettle', 5, { gives: '47.99' }),
      order('kettle', 5, { gives: '48.00', currency: 'idr' }),
      order('sugar', 5),
    ];
    const statuses = cheapOrders.map(async (body) => {
      const browser = new Browser(origins[0]);
      const { secret, id } = await createIntent(browser, body);
      await simulator.wallet('Ada').pay(secret);
      await browser.send('GET', '/goods/sugar');
      await untilState(id, 'settled');
      return (await browser.send('GET', '/goods/kettle')).status;
    });
    expect(await Promise.all(statuses)).toEqual([402, 402, 402]);
  });

  test('fails because the database rejects changes of recorded terms', async () => {
    const { id } = await createIntent(new Browser(origins[0]), order('kettle', 6));
    for (const change of [
      "amount = '0.05'",
      "currency = 'idr'",
      `destination = '${'1'.repeat(32)}'`,
      "metadata = '{}'",
    ]) {
      const update = `update express_intents.intents set ${change} where id = $1`;
      await expect(db.query(update, [id])).rejects.toThrow();
    }
  });
});

describe('idempotency key of another user', () => {
  test('is another key: it returns nothing of the other user', async () => {
    const victim = new Browser(origins[0]);
    const theirs = await createWith('order-7', victim, order('kettle', 7));
    expect(theirs.status).toBe(201);
    const attackers = [new Browser(origins[0]), new Browser(origins[1])];
    await createIntent(attackers[1] as Browser);
    for (const attacker of attackers) {
      const own = await createWith('order-7', attacker, order('kettle', 7));
      expect(own.status).toBe(201);
      expect(own.secret).not.toBe(theirs.secret);
    }
    expect(await createWith('order-7', at(1, victim), order('kettle', 7))).toMatchObject({ secret: theirs.secret });
  });

  test('creates one intent for a hundred concurrent requests', async () => {
    const browser = new Browser(origins[0]);
    await createIntent(browser);
    const answers = await hundredTimes((n) => createUntilAnswered('order-8', at(n, browser), order('kettle', 8)));
    expect([...new Set(answers.map(({ status, code }) => `${status} ${code}`))]).toEqual(['201 undefined']);
    expect(new Set(answers.map(({ secret }) => secret)).size).toBe(1);
  });

  test('is rejected with another order, and leaves the first order unchanged', async () => {
    const browser = new Browser(origins[0]);
    const first = await createWith('order-9', browser, order('sugar', 9));
    const second = await createWith('order-9', at(1, browser), order('kettle', 9));
    expect([second.status, second.code, second.secret]).toEqual([422, 'idempotency_key_reused', undefined]);
    expect(await createWith('order-9', browser, order('sugar', 9))).toMatchObject({ secret: first.secret });
  });

  test('is not enough: the database has neither the secret nor the cookie', async () => {
    const browser = new Browser(origins[0]);
    const { secret } = await createWith('order-10', browser, order('kettle', 10));
    const tables = ['intents', 'payments', 'logins'].map(
      (name) => `select t::text as row from express_intents.${name} t`,
    );
    const { rows } = await db.query<{ row: string }>(tables.join(' union all '));
    const all = rows.map(({ row }) => row).join('\n');
    expect(all).toContain('order-10');
    const cookie = browser.cookies.get('intent') ?? 'none';
    for (const hidden of [secret ?? 'none', cookie]) {
      const bytes = Buffer.from(hidden);
      for (const form of [hidden, bytes.toString('hex'), bytes.toString('base64')]) expect(all).not.toContain(form);
    }
    expect(all).not.toContain(Buffer.from(cookie, 'base64url').toString('hex'));
  });
});
