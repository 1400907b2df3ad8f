import type { Page, Request } from 'playwright-core';
import { newDatabaseUrl } from '../../support/databases/databases.js';
import { eventually } from '../../support/eventually.js';
import { orderIn } from '../../support/sites/site.js';
import { type ButtonOptions, begin, buttonScript, closed, event, idOf, part, seen } from '../support/checkout.js';
import {
  type Answer,
  balancerPage,
  cutShort,
  keysOf,
  lost,
  noAnswer,
  own,
  status,
  visitWith,
} from '../support/intent-answers.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium, type Visit, type VisitOptions } from '../support/visit.js';

// The button retries during a restart or a short outage of the site.

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite({
    ledger: { url: await newDatabaseUrl('embedded') },
    payment: (req) => ({ amount: '4.50', currency: 'usd', metadata: { order: orderIn(req) } }),
  });
  await site.router.ready();
});

const away = status(503, { code: 'ledger_unavailable' });
const login = { mode: 'login', order: undefined };

/** A visit whose pages have a manual clock. */
async function visit(answers: readonly Answer[], options: ButtonOptions = {}, how?: VisitOptions): Promise<Visit> {
  const visited = await visitWith(open, site.page({ script: buttonScript(options) }), answers, how);
  const { page } = visited;
  await page.clock.install();
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1_000);
  // A request that began earlier may end later.
  const pending = new Set<Request>();
  page.on('request', (request) => pending.add(request));
  for (const ended of ['requestfinished', 'requestfailed'] as const) {
    page.on(ended as 'requestfinished', (request) => pending.delete(request));
  }
  isBusy.set(page, () => pending.size > 0);
  return visited;
}

/** Whether a request of the page is pending. */
const isBusy = new WeakMap<Page, () => boolean>();

/** Advances the clock until the check holds, but not during a request of the page. */
const hurry = (page: Page, assert: () => Promise<void>): Promise<void> =>
  eventually(async () => {
    if (!isBusy.get(page)?.()) await page.clock.fastForward(250);
    await assert();
  });

const isNow = async (page: Page, ...states: string[]): Promise<void> =>
  expect(states).toContain(await part(page, 'dialog').getAttribute('data-state'));

/** Clicks, and waits for the third request, which is the last one until the clock advances. */
async function clickUntilOffline(visited: Visit): Promise<void> {
  await clickUntil(visited.page, 'offline');
  // The browser may report a request after the state that precedes it.
  await eventually(() => expect(keysOf(visited)).toHaveLength(3));
}

/** Clicks without waiting for a state. */
async function clickUntil(page: Page, wanted: string): Promise<void> {
  await part(page, 'button').click();
  await hurry(page, () => isNow(page, wanted));
}

const names = async (page: Page): Promise<string[]> => (await seen(page)).map(([name]) => name);

describe('POST /intent of a payment is retried', () => {
  test.each([
    ['the site says that it passes', away, away],
    ['no server answers', noAnswer, noAnswer],
    ['the answer ends too early', cutShort, cutShort],
  ])('with the same key and without a message if %s', async (_name, ...answers) => {
    const visited = await visit(answers);
    await clickUntil(visited.page, 'waiting');
    const [key, ...others] = keysOf(visited);
    expect(key).toMatch(/^[\da-f-]{36}$/);
    expect(others).toEqual([key, key]);
    expect(await names(visited.page)).toEqual(['invoke']);
  });

  test('and gets the intent that was created before, for a browser with a cookie', async () => {
    // The first intent sets the cookie.
    const awayAfterEffect: Answer = async (route) => {
      await route.fetch();
      await away(route);
    };
    const visited = await visit([own, lost, awayAfterEffect], { order: 'tea' });
    await begin(visited.page);
    await part(visited.page, 'close').click();
    await closed(visited.page);
    const answer = visited.page.waitForResponse((response) => response.status() === 201);
    await clickUntil(visited.page, 'waiting');
    const { client_secret: secret } = (await (await answer).json()) as { client_secret: string };

    const { intents } = await site.router.intents.list();
    const [made, ...others] = intents.filter((one) => one.kind === 'payment' && one.metadata.order === 'tea');
    expect(others).toHaveLength(1);
    expect(made?.id).toBe(idOf(secret));
    const [, ...keys] = keysOf(visited);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });
});

test('each retry of a login has a new key', async () => {
  const visited = await visit([away, balancerPage()], login);
  await clickUntil(visited.page, 'waiting');
  expect(keysOf(visited)).toHaveLength(3);
  expect(new Set(keysOf(visited)).size).toBe(3);
});

test.each([
  ['that was refused', status(404, { code: 'request_refused' })],
  ['that the sequencer has refused', status(502, { code: 'sequencer_error' })],
])('POST /intent is not retried after a request %s', async (_name, answer) => {
  const visited = await visit([answer]);
  await clickUntil(visited.page, 'problem');
  await visited.page.clock.fastForward(20_000);
  await visited.page.waitForTimeout(100);
  expect(keysOf(visited)).toHaveLength(1);
});

describe('during a long outage', () => {
  const forEver = Array<Answer>(30).fill(away);

  test('the dialog shows offline, gives up after five attempts and offers a retry', async () => {
    const visited = await visit(forEver);
    const { page } = visited;
    await clickUntilOffline(visited);
    expect(await part(page, 'status').textContent()).toBe('Connection problem. Still trying…');
    expect(await part(page, 'retry').isVisible()).toBe(false);
    expect(await names(page)).toEqual(['invoke']);

    await hurry(page, () => isNow(page, 'problem'));
    expect(await part(page, 'status').textContent()).toContain('You were not charged.');
    expect(await event(page, 'error')).toMatchObject({ error: { code: 'ledger_unavailable' } });
    const [key, ...others] = keysOf(visited);
    expect(others).toEqual([key, key, key, key]);

    await part(page, 'retry').click();
    await eventually(() => expect(keysOf(visited)).toHaveLength(6));
    expect(keysOf(visited)[5]).toBe(key);
  });

  test('closing the dialog ends the retries, also without AbortSignal.any', async () => {
    const before = (): void => void Object.defineProperty(AbortSignal, 'any', { value: undefined });
    const visited = await visit(forEver, {}, { before });
    const { page } = visited;
    await clickUntilOffline(visited);
    await part(page, 'close').click();
    await closed(page);
    expect(await event(page, 'cancel')).toEqual({ reason: 'dismissed' });
    for (let second = 0; second < 20; second += 1) await page.clock.fastForward(1_000);
    await page.waitForTimeout(100);
    expect(keysOf(visited)).toHaveLength(3);
    expect(await names(page)).toEqual(['invoke', 'cancel']);

    await page.unroute('**/intent');
    await begin(page);
    expect(keysOf(visited).at(-1)).not.toBe(keysOf(visited)[0]);
  });
});
