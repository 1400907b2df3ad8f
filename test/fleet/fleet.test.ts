import { EventSource } from 'eventsource';
import { Browser } from '../support/browser.js';
import { intentIdOf } from '../support/intent-id.js';
import { domain, type Fleet, startFleet } from './fleet.js';

// A site of three processes, where each request goes to another one.

let fleet: Fleet;
beforeAll(async () => {
  fleet = await startFleet(3);
}, 120_000);

/** The same person, at one process. */
const at = (index: number, browser: Browser): Browser => {
  const other = new Browser(fleet.origins[index] ?? '', browser.cookies);
  return Object.assign(other, {
    send: (method: string, path: string, body?: unknown) =>
      Browser.prototype.send.call(other, method, path, body, { origin: fleet.origin }),
  });
};

/** What a tab at one process is told, as it is told it. */
function listen(index: number, id: string, browser: Browser): { readonly kinds: string[]; close(): void } {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const source = new EventSource(`${fleet.origins[index]}/intent/${id}/events`, {
    fetch: (url, init) => fetch(url, { ...init, headers: { ...init?.headers, cookie } }),
  });
  const kinds: string[] = [];
  for (const kind of [
    'status',
    'code_scanned',
    'client_rejected_login',
    'client_rejected_payment',
    'intent_submitted',
  ]) {
    source.addEventListener(kind, () => {
      kinds.push(kind);
      if (kind === 'intent_submitted') source.close();
    });
  }
  return { kinds, close: () => source.close() };
}

async function comes(what: string, is: () => boolean | Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 10_000;
  while (!(await is())) {
    if (performance.now() > endMs) throw new Error(`It did not come to this: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function begin(body: object): Promise<{ browser: Browser; secret: string; id: string }> {
  const browser = new Browser(fleet.origin);
  const key = { 'idempotency-key': `"${Math.random()}"` };
  const begun = at(0, browser);
  const answer = await Browser.prototype.send.call(begun, 'POST', '/intent', body, { origin: fleet.origin, ...key });
  expect(answer.status).toBe(201);
  for (const [name, value] of begun.cookies) browser.cookies.set(name, value);
  const secret = String(answer.body.client_secret);
  return { browser, secret, id: intentIdOf(secret) };
}

test('a login is begun on one, watched on another, completed on the third, and known to all', async () => {
  const { browser, secret, id } = await begin({ mode: 'login' });
  const tab = listen(1, id, browser);
  await comes('the status', () => tab.kinds.includes('status'));
  await fleet.sequencer.wallet('Ada').login(secret);
  await comes('the end', () => tab.kinds.includes('intent_submitted'));
  const third = at(2, browser);
  const done = await third.send('POST', '/session', { id });
  const user = { id: fleet.sequencer.wallet('Ada').userId(domain) };
  expect([done.status, done.body]).toEqual([200, { user }]);
  for (const index of [0, 1, 2]) {
    expect((await at(index, third).send('GET', '/account')).body).toEqual({ user: user.id });
  }
});

test('what happens at the wallet is told by a process that did not begin it', async () => {
  const { browser, secret, id } = await begin({ mode: 'payment', order: 1 });
  const tab = listen(1, id, browser);
  await comes('the status', () => tab.kinds.includes('status'));
  await fleet.sequencer.wallet('Ada').reject(secret);
  await comes('the rejection', () => tab.kinds.includes('client_rejected_payment'));
  tab.close();
});

test('a payment is begun on one, watched on another, and fulfilled once', async () => {
  const paid = await Promise.all(Array.from({ length: 20 }, (_, order) => begin({ mode: 'payment', order })));
  const tabs = paid.map(({ id, browser }, index) => listen(1 + (index % 2), id, browser));
  await comes('the statuses', () => tabs.every(({ kinds }) => kinds.includes('status')));
  await Promise.all(paid.map(({ secret }) => fleet.sequencer.wallet('Ben').pay(secret)));
  await comes('the end', () => tabs.every(({ kinds }) => kinds.includes('intent_submitted')));
  const ids = paid.map(({ id }) => id);
  const settled = `select from express_intents.intents where id = any($1) and state = 'settled'`;
  await comes('all settled', async () => (await fleet.sql(settled, [ids])).length === 20);
  const fulfilled = await fleet.sql('select intent_id, by from public.fulfilled where intent_id = any($1)', [ids]);
  expect(fulfilled.map(({ intent_id: id }) => id).sort()).toEqual([...ids].sort());
  // The work was shared.
  expect(new Set(fulfilled.map(({ by }) => by)).size).toBeGreaterThan(1);
});

test('of a hundred that complete one login at once, one begins a session', async () => {
  const { browser, secret, id } = await begin({ mode: 'login' });
  await fleet.sequencer.wallet('Mia').login(secret);
  const tries = Array.from({ length: 100 }, (_, index) => at(index % 3, browser).send('POST', '/session', { id }));
  const statuses = (await Promise.all(tries)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
  expect(new Set(statuses)).toEqual(new Set([200, 404]));
});
