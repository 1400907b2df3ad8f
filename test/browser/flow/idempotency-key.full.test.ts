import type { Page } from 'playwright-core';
import { eventually } from '../../support/eventually.js';
import { begin, buttonScript, closed, part, state } from '../support/checkout.js';
import { type Answer, keysOf, status, visitWith as visitWithAnswers } from '../support/intent-answers.js';
import { type StrictSite, startStrictSite } from '../support/strict-site.js';
import { useChromium, type Visit } from '../support/visit.js';

const open = useChromium();
let site: StrictSite;

beforeAll(async () => {
  site = await startStrictSite();
});

const script = buttonScript();
const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

/** The request takes effect and its answer is replaced with a 500. */
const failedAfterEffect: Answer = async (route) => {
  await route.fetch();
  await status(500)(route);
};

const visitWith = (answers: readonly Answer[], address = site.page({ script })): Promise<Visit> =>
  visitWithAnswers(open, address, answers);

async function fail(page: Page): Promise<void> {
  await part(page, 'button').click();
  await state(page, 'problem');
}

async function cancel(page: Page): Promise<void> {
  await part(page, 'close').click();
  await closed(page);
}

test.each([
  ['the site fails', status(500)],
  ['the site fails after the request took effect', failedAfterEffect],
  ['the rate limit is reached', status(429)],
  ['the same request is in progress', status(409)],
])('a retry sends the same key if %s', async (_name, answer) => {
  const visit = await visitWith([answer, answer]);
  await fail(visit.page);
  await part(visit.page, 'retry').click();
  await eventually(() => expect(keysOf(visit)).toHaveLength(2));
  await state(visit.page, 'problem');
  await part(visit.page, 'retry').click();
  await state(visit.page, 'waiting');
  const [key, ...others] = keysOf(visit);
  expect(key).toMatch(uuid);
  expect(others).toEqual([key, key]);
});

test('each new intent has a new key', async () => {
  const visit = await visitWith([status(500)]);
  const { page } = visit;
  await fail(page);
  await cancel(page);
  // After a closed problem, and after a closed code.
  await begin(page);
  await cancel(page);
  const code = await begin(page);
  await site.simulator.wallet('Ada').decline(code);
  await state(page, 'declined');
  await part(page, 'retry').click();
  await state(page, 'waiting');
  expect(new Set(keysOf(visit)).size).toBe(4);
  for (const key of keysOf(visit)) expect(key).toMatch(uuid);
});

test('each attempt of a login sends a new key, because its time to live starts at its creation', async () => {
  const visit = await visitWith(
    [status(500)],
    site.page({ script: buttonScript({ mode: 'login', order: undefined }) }),
  );
  await fail(visit.page);
  await part(visit.page, 'retry').click();
  await state(visit.page, 'waiting');
  expect(new Set(keysOf(visit)).size).toBe(2);
});

const reused = status(422, { code: 'idempotency_key_reused' });

test('a key that the site knows from another request is replaced without a problem', async () => {
  const visit = await visitWith([status(500), reused]);
  await fail(visit.page);
  await part(visit.page, 'retry').click();
  await state(visit.page, 'waiting');
  const [first, second, third] = keysOf(visit);
  expect(second).toBe(first);
  expect(third).toMatch(uuid);
  expect(third).not.toBe(first);
  expect(keysOf(visit)).toHaveLength(3);
});

test('a site that refuses every key gets two requests', async () => {
  const visit = await visitWith([status(500), reused, reused, reused]);
  await fail(visit.page);
  await part(visit.page, 'retry').click();
  await eventually(() => expect(keysOf(visit)).toHaveLength(3));
  await state(visit.page, 'problem');
  await visit.page.waitForTimeout(200);
  expect(keysOf(visit)).toHaveLength(3);
});

test('a retry is not offered on an insecure page', async () => {
  const { page } = await open(site.page({ script }), {
    before: () => Object.defineProperty(globalThis, 'isSecureContext', { value: false }),
  });
  await fail(page);
  expect(await part(page, 'status').textContent()).toContain('https');
  expect(await part(page, 'retry').isVisible()).toBe(false);
});
