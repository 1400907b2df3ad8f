import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { EventSource } from 'eventsource';
import { Browser } from '../support/browser/browser.js';
import { eventually } from '../support/eventually.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { domain, type Fleet, startFleet } from './fleet.js';

// A site of three processes, reached directly and through a balancer that sends each request to the next one.

const limit = 100;

let fleet: Fleet;
beforeAll(async () => {
  fleet = await startFleet(3, { router: { limit } });
});

/** How the processes are reached: the origin of the first, second and third request. */
interface Way {
  readonly origin: (index: number) => string;
  /** The headers of the nth visitor, which has its own address. */
  readonly visitor: (nth: number) => { readonly headers?: Record<string, string>; readonly localAddress?: string };
}

const ways: [string, Way][] = [
  [
    'directly',
    {
      origin: (index) => fleet.origins[index % 3] ?? '',
      visitor: (nth) => ({ headers: { 'x-forwarded-for': `192.0.2.${nth}` } }),
    },
  ],
  ['through the balancer', { origin: () => fleet.origin, visitor: (nth) => ({ localAddress: `127.0.0.${nth}` }) }],
];

describe.each(ways)('%s', (name, { origin, visitor }) => {
  /** The same browser at one process. */
  const at = (index: number, browser: Browser): Browser => {
    const other = new Browser(origin(index), browser.cookies);
    return Object.assign(other, {
      send: (method: string, path: string, body?: unknown, headers: object = {}) =>
        Browser.prototype.send.call(other, method, path, body, { origin: fleet.origin, ...headers }),
    });
  };

  /** The events of a tab at one process. */
  function listen(index: number, id: string, browser: Browser) {
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const tab = { kinds: [] as string[], by: undefined as unknown, close: () => source.close() };
    const source = new EventSource(`${origin(index)}/intent/${id}/events`, {
      fetch: async (url, init) => {
        const answer = await fetch(url, { ...init, headers: { ...init?.headers, cookie } });
        tab.by = answer.headers.get('x-process');
        return answer;
      },
    });
    for (const kind of [
      'status',
      'code_scanned',
      'client_rejected_login',
      'client_rejected_payment',
      'intent_submitted',
    ]) {
      source.addEventListener(kind, () => {
        tab.kinds.push(kind);
        if (kind === 'intent_submitted') source.close();
      });
    }
    return tab;
  }

  async function begin(body: object) {
    const begun = at(0, new Browser(''));
    const answer = await begun.send('POST', '/intent', body, { 'idempotency-key': `"${crypto.randomUUID()}"` });
    expect(answer.status).toBe(201);
    const browser = new Browser('', begun.cookies);
    const secret = String(answer.body.client_secret);
    return { browser, secret, id: intentIdOf(secret), by: answer.headers.get('x-process') };
  }

  test('a login is started on one process, watched on another, completed on a third, and known to all', async () => {
    const { browser, secret, id, by } = await begin({ mode: 'login' });
    const tab = listen(1, id, browser);
    await eventually('the status', () => tab.kinds.includes('status'));
    await fleet.simulator.wallet('Ada').login(secret);
    await eventually('the end', () => tab.kinds.includes('intent_submitted'));
    const third = at(2, browser);
    const done = await third.send('POST', '/session', { id });
    const user = { id: fleet.simulator.wallet('Ada').userId(domain) };
    expect([done.status, done.body]).toEqual([200, { user }]);
    // The balancer also relays requests of the sequencer, so its next process is unknown.
    if (name === 'directly') expect(new Set([by, tab.by, done.headers.get('x-process')]).size).toBe(3);
    for (const index of [0, 1, 2]) {
      expect((await at(index, third).send('GET', '/account')).body).toEqual({ user: user.id });
    }
  });

  test('events of the wallet reach a page through another process than the one that created the intent', async () => {
    const { browser, secret, id } = await begin({ mode: 'payment', order: 1 });
    const tab = listen(1, id, browser);
    await eventually('the status', () => tab.kinds.includes('status'));
    await fleet.simulator.wallet('Ada').decline(secret);
    await eventually('the rejection', () => tab.kinds.includes('client_rejected_payment'));
    tab.close();
  });

  test('a payment is created on one process, watched on another, and fulfilled once', async () => {
    const paid = await Promise.all(Array.from({ length: 20 }, (_, order) => begin({ mode: 'payment', order })));
    const tabs = paid.map(({ id, browser }, index) => listen(1 + (index % 2), id, browser));
    await eventually('the statuses', () => tabs.every(({ kinds }) => kinds.includes('status')));
    await Promise.all(paid.map(({ secret }) => fleet.simulator.wallet('Ben').pay(secret)));
    await eventually('the end', () => tabs.every(({ kinds }) => kinds.includes('intent_submitted')));
    const ids = paid.map(({ id }) => id);
    const settled = `select from express_intents.payments where intent_id = any($1) and state = 'settled'`;
    await eventually('all settled', async () => (await fleet.sql(settled, [ids])).length === 20);
    const fulfilled = await fleet.sql('select intent_id from public.fulfilled where intent_id = any($1)', [ids]);
    expect(fulfilled.map(({ intent_id: id }) => id).sort()).toEqual([...ids].sort());
  });

  test('a rate limit is shared by all processes with a shared store', async () => {
    const post = (index: number, nth: number): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const { headers, localAddress } = visitor(nth);
        const asked = request(`${origin(index)}/intent`, {
          ...{ method: 'POST', localAddress },
          headers: { ...headers, 'content-type': 'application/json', origin: fleet.origin },
        });
        asked.on('response', (answer) => resolve(answer.resume().statusCode)).on('error', reject);
        asked.end(JSON.stringify({ mode: 'login' }));
      });
    const postAll = async (nth: number): Promise<(number | undefined)[]> => {
      const statuses: (number | undefined)[] = [];
      for (let turn = 0; turn < limit / 10 + 1; turn += 1) {
        statuses.push(...(await Promise.all(Array.from({ length: 10 }, (_, index) => post(index, nth)))));
      }
      return statuses;
    };
    // A process counts separately for a while when the store has not answered within half a second, and logs it. The test then
    // repeats with another visitor, until all processes use the store throughout.
    const logged = (line: string): number => fleet.printed().split(`the rate limit store ${line}`).length;
    const isUsed = (failures: number): boolean => logged('failed') === failures && logged('has recovered') === failures;
    let statuses: (number | undefined)[] = [];
    for (let nth = 10; nth < 30; nth += 1) {
      // A process does not use the store for ten seconds after a failure.
      if (logged('failed') > 1) await wait(11_000);
      const failures = logged('failed');
      // The store counts for all visitors from the first request to the end of a minute, which may not come in between.
      await post(0, 9);
      await fleet.sql(`update rate_limit.sessions set expires_at = now() + interval '1 hour'`);
      statuses = await postAll(nth);
      if (isUsed(failures)) break;
    }
    expect(statuses.filter((status) => status === 201)).toHaveLength(limit);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  }, 600_000);
});
