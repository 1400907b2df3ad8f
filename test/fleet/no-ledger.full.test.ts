import { Browser } from '../support/browser/browser.js';
import { intentIdOf } from '../support/sites/intent-id.js';
import { domain, type Fleet, startFleet } from './fleet.js';

// The promises of docs/several-processes.md for several processes without a database and with logins in a sealed cookie.

let fleet: Fleet;
beforeAll(async () => {
  fleet = await startFleet(3, { isRecorded: false });
});

/** The same browser at one process. */
const at = (index: number, browser: Browser): Browser => {
  const other = new Browser(fleet.origins[index] ?? '', browser.cookies);
  return Object.assign(other, {
    send: (method: string, path: string, body?: unknown) =>
      Browser.prototype.send.call(other, method, path, body, { origin: fleet.origin }),
  });
};

async function begin(mode: string): Promise<{ browser: Browser; secret: string; id: string }> {
  const browser = at(0, new Browser(''));
  const { status, body } = await browser.send('POST', '/intent', { mode });
  expect(status).toBe(201);
  const secret = String(body.client_secret);
  return { browser, secret, id: intentIdOf(secret) };
}

test('without a ledger a login is completed once, only by the process that created it, and then known to all', async () => {
  const { browser, secret, id } = await begin('login');
  const { userId } = await fleet.simulator.wallet('Ada').login(secret);
  for (const index of [1, 2]) {
    const { status, body } = await at(index, browser).send('POST', '/session', { id });
    expect([status, body.code]).toEqual([404, 'intent_not_found']);
  }
  const tries = Array.from({ length: 30 }, async (_, index) => {
    const person = at(index % 3, browser);
    return { person, ...(await person.send('POST', '/session', { id })) };
  });
  const [done, ...more] = (await Promise.all(tries)).filter(({ status }) => status === 200);
  expect([done?.body, more]).toEqual([{ user: { id: userId } }, []]);
  for (const index of [0, 1, 2]) {
    const person = at(index, done?.person ?? browser);
    expect((await person.send('GET', '/account')).body).toEqual({ user: userId });
  }
  expect(fleet.simulator.wallet('Ada').userId(domain)).toBe(userId);
});

test('without a ledger a payment is visible at every process, by status calls at those that did not create it', async () => {
  const { browser, secret, id } = await begin('payment');
  const events = at(1, browser).send('GET', `/intent/${id}/events`);
  await fleet.simulator.wallet('Ada').pay(secret);
  expect((await events).body.text).toContain('event: intent_submitted');
  const flags = { exists: true, code_scanned: true, intent_submitted: true };
  const anywhere = new Browser(fleet.origin, browser.cookies);
  const answers = await Promise.all([1, 2, 3].map(() => anywhere.send('GET', `/status/${id}`)));
  expect(answers.map(({ body }) => body)).toEqual([flags, flags, flags]);
  expect(new Set(answers.map(({ headers }) => headers.get('x-process'))).size).toBe(3);
});
