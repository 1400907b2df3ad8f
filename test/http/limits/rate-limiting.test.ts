import { jest } from '@jest/globals';
import type { Store } from 'express-rate-limit';
import request, { type Test } from 'supertest';
import type { LimitOptions, RequestLimits } from '../../../src/config/config-options.js';
import { MemoryStore } from '../../../src/http/limits/rate-limit-stores.js';
import { formatBase58 } from '../../../src/keys/base58.js';
import { post } from '../../support/sites/post.js';
import { generateJwtKey, jwtOf } from '../../support/sites/service-jwt.js';
import { expressVersions, type SiteOptions, startSite } from '../../support/sites/site.js';
import { holdTimeouts } from '../../support/timeouts.js';
import { countingTransport } from '../../support/transports/counting-transport.js';

const id = '9g7uDNB441jNqo9exZuNq95A8CsbWRXQmoDo9DMopxZH';
const service = generateJwtKey();
/** The initial time of each site. */
const startMs = Date.now();

async function start(requests: LimitOptions['requests'], options: SiteOptions = {}) {
  const transport = countingTransport();
  const clock = { nowMs: startMs };
  const site = await startSite(
    {
      sequencer: { transport },
      limits: { requests },
      payment: () => ({ amount: 5, currency: 'usd' }),
      webhook: { publicKeys: [service.publicKey] },
      origin: 'https://shop.example',
      testClock: () => clock.nowMs,
    },
    options,
  );
  return { ...site, clock, calls: transport.calls };
}

const forged = (origin: string): Test =>
  request(origin).post('/intent/webhook').set('Content-Type', 'application/jwt').send('a.b.c');
const events = (origin: string): Test => request(origin).head(`/intent/${id}/events`);

const logOut = (origin: string): Test => request(origin).delete('/session').set('Sec-Fetch-Site', 'same-origin');

/** The limited requests, each with its status below the limit. */
const routes: readonly (readonly [keyof RequestLimits, status: number, send: (origin: string) => Test])[] = [
  ['intent', 201, (origin) => post(origin).send({})],
  ['session', 404, (origin) => post(origin, '/session').send({ id })],
  ['session', 204, logOut],
  ['status', 200, (origin) => request(origin).get(`/status/${id}`)],
  ['status', 200, events],
  ['webhook', 400, forged],
];

describe.each(Object.entries(expressVersions))('rate limits on %s', (_name, factory) => {
  test.each(routes)(
    'reject requests of the route %s over the limit until the window ends',
    async (route, status, send) => {
      const { origin, clock, log } = await start({ [route]: 2 }, { factory });
      await send(origin).expect(status);
      clock.nowMs += 10_000;
      await send(origin).expect(status);
      const { headers, body } = await send(origin).expect(429);
      expect(headers).toMatchObject({
        'content-type': 'application/problem+json',
        'cache-control': 'no-store',
        'retry-after': '50',
        ratelimit: expect.stringMatching(new RegExp(`^"${route}"; r=0; t=\\d+$`)),
        'ratelimit-policy': expect.stringMatching(new RegExp(`^"${route}"; q=2; w=60; pk=:[\\w+/=]+:$`)),
      });
      // A HEAD has no body.
      if (send !== events) expect(body).toMatchObject({ status: 429, code: 'rate_limited' });
      clock.nowMs += 49_999;
      await send(origin).expect(429);
      clock.nowMs += 1;
      await send(origin).expect(status);
      expect(log.text).not.toContain('rate');
    },
  );
});

test('each route has its own rate limit, and cheap routes have none', async () => {
  const { origin } = await start({ intent: 1, session: 1, status: 1, webhook: 1 });
  for (const [route, status, send] of routes.filter(([, status]) => status !== 204)) {
    if (send !== events) await send(origin).expect(status);
    expect([route, (await send(origin)).status]).toEqual([route, 429]);
  }
  for (const path of ['/session', '/.well-known/service-payments.json']) {
    for (let n = 0; n < 5; n += 1) await request(origin).get(path).expect(200);
  }
});

test('concurrent requests are admitted up to the limit exactly', async () => {
  const { origin, calls } = await start({ intent: 10 });
  const answers = await Promise.all(Array.from({ length: 50 }, () => post(origin).send({})));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(40);
  expect(calls.filter((call) => call === 'createIntent')).toHaveLength(10);
});

test('a flood of invented ids reaches the service no more often than the limit', async () => {
  const { origin, calls } = await start({ status: 20 });
  for (let n = 0; n < 60; n += 1) {
    const { status } = await request(origin).get(`/status/${formatBase58(new Uint8Array(32).fill(n))}`);
    expect(status).toBe(n < 20 ? 200 : 429);
  }
  expect(calls).toHaveLength(20);
});

test('cross-site requests do not count against the limit of the visitor', async () => {
  const { origin } = await start({ intent: 2, session: 2 });
  for (let n = 0; n < 5; n += 1) {
    await post(origin).set('Sec-Fetch-Site', 'cross-site').send({}).expect(403);
    await post(origin, '/session').set('Sec-Fetch-Site', 'cross-site').send({ id }).expect(403);
  }
  await post(origin).send({}).expect(201);
  await post(origin, '/session').send({ id }).expect(404);
});

test('webhook calls signed by the service are not counted', async () => {
  const { origin } = await start({ webhook: 2 });
  for (let n = 0; n < 6; n += 1) {
    const jwt = jwtOf({ intent: id, state: 'SUBMITTED', n }, service);
    await request(origin).post('/intent/webhook').set('Content-Type', 'application/jwt').send(jwt).expect(200);
  }
  await forged(origin).expect(400);
});

test('rate limits apply by default, and not with limits: { requests: false }', async () => {
  const byDefault = await start(undefined);
  const without = await start(false);
  const statusesOf = async (origin: string): Promise<number[]> => {
    const answers = await Promise.all(Array.from({ length: 130 }, () => post(origin).send({})));
    return answers.map(({ status }) => status).sort();
  };
  expect(await statusesOf(byDefault.origin)).toEqual([...Array(120).fill(201), ...Array(10).fill(429)]);
  expect(await statusesOf(without.origin)).toEqual(Array(130).fill(201));
});

test('the key of a rate limit does not depend on the cookie', async () => {
  const { origin } = await start({ intent: 2 });
  const statuses: number[] = [];
  for (const letter of ['a', 'b', 'c']) {
    statuses.push(
      (
        await post(origin)
          .set('Cookie', `intent=${letter.repeat(43)}`)
          .send({})
      ).status,
    );
  }
  expect(statuses).toEqual([201, 201, 429]);
});

describe('a store of the site', () => {
  /** A store that several processes share. */
  class SharedStore implements Store {
    readonly counts = new Map<string, number>();
    fault: 'throws' | 'hangs' | 'returns NaN' | undefined;
    /** Expires the timeout of the router for one call. */
    expire: () => void = () => undefined;
    calls = 0;

    async increment(key: string) {
      this.calls += 1;
      if (this.fault === 'throws') throw new Error('redis is down');
      if (this.fault === 'hangs') {
        setImmediate(this.expire);
        return new Promise<never>(() => undefined);
      }
      const totalHits = (this.counts.get(key) ?? 0) + 1;
      this.counts.set(key, totalHits);
      return { totalHits: this.fault === 'returns NaN' ? Number.NaN : totalHits, resetTime: new Date(startMs + 9_000) };
    }
    decrement(key: string): void {
      this.counts.set(key, (this.counts.get(key) ?? 0) - 1);
    }
    resetKey(key: string): void {
      this.counts.delete(key);
    }
  }

  test('counts for all processes', async () => {
    const store = new SharedStore();
    const [one, other] = [
      await start({ intent: 2 }, { limits: { store } }),
      await start({ intent: 2 }, { limits: { store } }),
    ];
    await post(one.origin).send({}).expect(201);
    await post(other.origin).send({}).expect(201);
    const rejected = await post(one.origin).send({}).expect(429);
    expect(rejected.headers['retry-after']).toBe('9');
    await post(other.origin).send({}).expect(429);
    await request(one.origin).get(`/status/${id}`).expect(200);
    expect([...store.counts]).toEqual([
      ['intent:127.0.0.1', 4],
      ['status:127.0.0.1', 1],
    ]);
  });

  test.each(['throws', 'hangs', 'returns NaN'] as const)(
    'that %s is replaced by the memory of the process, with one log line',
    async (fault) => {
      const store = Object.assign(new SharedStore(), { fault, expire: holdTimeouts(500) });
      const { origin, log, clock } = await start({ intent: 3 }, { limits: { store } });
      for (const status of [201, 201, 201, 429, 429]) await post(origin).send({}).expect(status);
      expect(log.lines.filter((line) => line.startsWith('error'))).toEqual([
        expect.stringMatching(
          /the rate limit store failed: .+\. Until it recovers, each process counts separately\. Check `limits\.store`\./,
        ),
      ]);
      // The next call to the store follows after the pause.
      expect(store.calls).toBe(1);
      clock.nowMs += 10_000;
      await post(origin).send({});
      expect([store.calls, log.lines.filter((line) => line.startsWith('error')).length]).toEqual([2, 1]);
      store.fault = undefined as never;
      clock.nowMs += 10_000;
      await post(origin).send({}).expect(201);
      expect(store.calls).toBe(3);
      expect(log.lines.at(-1)).toContain('has recovered. All processes share its counts again');
    },
  );
});

test('MemoryStore keeps at most 20,000 keys', () => {
  let nowMs = 0;
  const now = () => nowMs;
  const counts = new MemoryStore(60_000, { now, monotonicNow: now });
  for (let n = 0; n < 100_000; n += 1) counts.increment(`intent:${n}`);
  expect(counts.size).toBe(20_000);
  nowMs += 60_000;
  counts.increment('intent:a');
  expect(counts.size).toBe(1);
});

test.each([
  ['ahead', 86_400_000],
  ['back', -86_400_000],
])('a window keeps its length when the system clock is set %s', async (_direction, offsetMs) => {
  const readClock = Date.now;
  let setMs = 0;
  jest.spyOn(Date, 'now').mockImplementation(() => readClock() + setMs);
  const { origin } = await start({ session: 2 }, { testClock: undefined });
  for (const status of [204, 204, 429]) await logOut(origin).expect(status);
  setMs = offsetMs;
  const { headers } = await logOut(origin).expect(429);
  expect(Number(headers['retry-after'])).toBeGreaterThan(50);
  expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
});
