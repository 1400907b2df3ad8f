import { waitForIntent } from 'express-intents/testing';
import request from 'supertest';
import { eventually } from '../support/eventually.js';
import { advance, type ExistingApp, minute, orderOf, ShopVisitor, startExistingApp } from './existing-app.js';

// docs/examples/existing-app with a Postgres server, over HTTP. test/browser drives it in a browser.

let site: ExistingApp;
let visitor: ShopVisitor;
/** Redirects whose headers were sent before the request had stored its session. */
const early: string[] = [];

beforeAll(async () => {
  const contentOf = (session: unknown): string => JSON.stringify({ ...Object(session), cookie: undefined });
  let stored = '';
  site = await startExistingApp((req, res, next) => {
    const { writeHead } = res;
    res.writeHead = (...args: unknown[]) => {
      const { session } = req as { session?: unknown };
      if (args[0] === 302 && contentOf(session) !== stored) early.push(`${req.method} ${req.originalUrl}`);
      return Reflect.apply(writeHead, res, args);
    };
    next();
  });
  const query = site.pool.query.bind(site.pool) as (...args: unknown[]) => Promise<unknown>;
  const observed = async (text: unknown, values: unknown): Promise<unknown> => {
    const content = /insert into "session"/i.test(String(text)) && contentOf((values as unknown[])[0]);
    const result = await query(text, values);
    if (content) stored = content;
    return result;
  };
  Object.assign(site.pool, { query: observed });
});
beforeEach(() => {
  visitor = new ShopVisitor(site);
});
afterAll(() => site?.close());

const emails = async (order: string, pattern = `Your order ${order} %`): Promise<string[]> => {
  const { rows } = await site.pool.query('select subject from emails where subject like $1 order by id', [pattern]);
  return rows.map(({ subject }) => subject);
};

async function reverse(id: string): Promise<void> {
  site.simulator.reverse(id);
  await advance(site, 2 * minute); // the first poll reports the reversal
  await advance(site, minute); // the second poll confirms it
  await waitForIntent(site.router, id, 'reversed');
}

test('the CSRF middleware rejects a form without its token', async () => {
  const { status } = await request(site.origin).post('/basket').type('form').send({ item: 'tea' });
  expect(status).toBe(403);
});

test('a payment fulfills the order, and writes one email to the outbox', async () => {
  await visitor.logInByPassword();
  const path = await visitor.order('tea');
  expect(await visitor.page(path)).toContain(`<intent-button order="${orderOf(path)}"`);
  await visitor.pay(orderOf(path));
  expect(await visitor.page(path)).toContain('This order is paid.');
  expect(await emails(orderOf(path))).toEqual([`Your order ${orderOf(path)} is paid.`]);
});

test('an order of another account cannot be paid', async () => {
  await visitor.logInByPassword();
  const path = await visitor.order('tea');
  const stranger = new ShopVisitor(site);
  await expect(stranger.createIntent({ mode: 'payment', order: orderOf(path) })).rejects.toThrow('404');
});

test('a failed commit rolls back the email and the order', async () => {
  await visitor.logInByPassword();
  const path = await visitor.order('tea');
  await site.pool.query("create function reject() returns trigger language plpgsql as $$begin raise 'full'; end$$");
  await site.pool.query(
    'create constraint trigger failing after update on orders deferrable initially deferred for each row execute function reject()',
  );
  const code = await visitor.createIntent({ mode: 'payment', order: orderOf(path) });
  const { id } = await site.simulator.wallet('Ada').pay(code);
  await eventually('the hook has failed', async () => {
    expect((await site.router.intents.find(id))?.attempts).toBeGreaterThan(0);
  });
  expect([await visitor.page(path), await emails(orderOf(path))]).toEqual([expect.not.stringContaining('is paid'), []]);
  await site.pool.query('drop trigger failing on orders');
  await advance(site, minute);
  await waitForIntent(site.router, id, 'settled');
  expect(await emails(orderOf(path))).toHaveLength(1);
});

test('a reversed payment marks the order as reversed, and writes a second email', async () => {
  await visitor.logInByPassword();
  const path = await visitor.order('cup');
  const id = await visitor.pay(orderOf(path));
  await reverse(id);
  expect(await visitor.page(path)).toContain('This order is reversed.');
  expect(await emails(orderOf(path))).toHaveLength(2);
});

test('a second payment of an order is reported to the shop, and its reversal keeps the order paid', async () => {
  await visitor.logInByPassword();
  const path = await visitor.order('cup');
  const order = orderOf(path);
  const codes = [
    await visitor.createIntent({ mode: 'payment', order }),
    await visitor.createIntent({ mode: 'payment', order }),
  ];
  const ids: string[] = [];
  for (const code of codes) {
    const { id } = await site.simulator.wallet('Ada').pay(code);
    await waitForIntent(site.router, id, 'settled');
    ids.push(id);
  }
  const [first = '', second = ''] = ids;
  const toShop = `Second payment of order ${order}, %`;
  expect(await emails(order)).toEqual([`Your order ${order} is paid.`]);
  expect(await emails(order, toShop)).toEqual([`Second payment of order ${order}, paid: ${second}`]);

  await reverse(second);
  expect(await visitor.page(path)).toContain('This order is paid.');
  expect(await emails(order, toShop)).toHaveLength(2);
  expect(await emails(order)).toHaveLength(1);

  await reverse(first);
  expect(await visitor.page(path)).toContain('This order is reversed.');
});

test('a redirect is sent after the session is stored, because a browser follows it at once', async () => {
  early.splice(0);
  await visitor.submit('/', '/basket', { item: 'cup' });
  expect(await visitor.logInByPassword()).toBe('/account');
  await visitor.submit('/basket', '/orders');
  await visitor.submit('/account', '/logout');
  expect(early).toEqual([]);
});

test('a visitor who logs in with a wallet keeps the basket, and has an account', async () => {
  await visitor.submit('/', '/basket', { item: 'cup' });
  expect(await visitor.logIn('Ben')).toBe(200);
  expect(await visitor.page('/basket')).toContain('Stoneware cup');
  const path = await visitor.submit('/basket', '/orders');
  await visitor.pay(orderOf(path));
  expect(await visitor.page('/account')).toContain('Stoneware cup</a> paid');
});

test('linking a wallet merges its account, and keeps the password login and the basket', async () => {
  const walletOnly = new ShopVisitor(site);
  expect(await walletOnly.logIn('Mia')).toBe(200);
  const path = await walletOnly.order('cup');

  await visitor.logInByPassword();
  await visitor.submit('/', '/basket', { item: 'tea' });
  expect(await visitor.logIn('Mia', 'link')).toBe(200);
  expect(await visitor.page('/basket')).toContain('Smoked black tea');
  const account = await visitor.page('/account');
  expect(account).toContain('ada@example.com');
  expect(account).toContain(path);

  const later = new ShopVisitor(site);
  await later.logIn('Mia');
  expect(await later.page('/account')).toContain('ada@example.com');
});

test('a login whose response was lost is repeated', async () => {
  const id = await visitor.confirmLogin('Ben');
  const again = visitor.copy();
  expect(await visitor.complete(id, 'attempt')).toBe(200);
  expect(await again.complete(id, 'attempt')).toBe(200);
  expect(await again.page('/account')).toContain('Your account');
});

test('a password opens its account in a browser that a wallet has logged in, and keeps only the basket', async () => {
  expect(await visitor.logIn('Ben')).toBe(200);
  await visitor.submit('/', '/basket', { item: 'tea' });
  expect(await visitor.logInByPassword()).toBe('/account');
  expect(await visitor.page('/account')).toContain('ada@example.com');
  expect(await visitor.page('/basket')).toContain('Smoked black tea');
  expect(await visitor.user()).toBeNull();
});

test('a login without the order to link opens the account of the wallet', async () => {
  await visitor.logInByPassword();
  expect(await visitor.logIn('Ben')).toBe(200);
  expect(await visitor.page('/account')).not.toContain('ada@example.com');
});

test('a wallet of another account with a password cannot be linked', async () => {
  await visitor.logInByPassword();
  await visitor.logIn('Mia', 'link');
  await site.createAccount(site.pool, { email: 'ben@example.com', password: 'cup' });
  const other = new ShopVisitor(site);
  await other.submit('/login', '/login', { email: 'ben@example.com', password: 'cup' });
  expect(await other.logIn('Mia', 'link')).toBe(403);
  expect(await other.page('/account')).toContain('ben@example.com');
});

test('the button "Link a wallet" of a page of another account is rejected, and starts no login', async () => {
  await visitor.logInByPassword();
  const stale = await visitor.linkOrder();
  const begin = () => visitor.createIntent({ mode: 'login', order: stale });
  await begin();
  await visitor.submit('/account', '/logout');
  await expect(begin()).rejects.toThrow('403');
  expect(await visitor.logIn('Ben')).toBe(200);
  await expect(begin()).rejects.toThrow('403');
  await expect(visitor.createIntent({ mode: 'login', order: { linkTo: 'undefined' } })).rejects.toThrow('403');
  expect(await new ShopVisitor(site).logIn('Ben')).toBe(200);
});

test.each(['undefined', null, ['1']])('a visitor without an account cannot link a wallet to %j', async (linkTo) => {
  await expect(visitor.createIntent({ mode: 'login', order: { linkTo } })).rejects.toThrow('403');
});

test('unlinking a wallet ends its sessions, and its next login has an account of its own', async () => {
  await visitor.logInByPassword();
  await visitor.logIn('Ada', 'link');
  const elsewhere = new ShopVisitor(site);
  await elsewhere.logIn('Ada');
  const id = site.simulator.wallet('Ada').userId('shop.example');
  await visitor.submit('/account', '/unlink', { id });
  expect(await visitor.redirectOf('/account')).toBe('/login');
  expect(await elsewhere.redirectOf('/account')).toBe('/login');
  await elsewhere.logIn('Ada');
  expect(await elsewhere.page('/account')).not.toContain('ada@example.com');
});

test('logging out ends both logins', async () => {
  await visitor.logInByPassword();
  await visitor.logIn('Mia', 'link');
  expect(await visitor.user()).not.toBeNull();
  await visitor.submit('/account', '/logout');
  expect(await visitor.redirectOf('/account')).toBe('/login');
  expect(await visitor.user()).toBeNull();
});

test('a recipe is shown only to a browser that has paid', async () => {
  expect(await visitor.redirectOf('/recipes/chai')).toBe('/buy?return=%2Frecipes%2Fchai');
  // The query of a page is not part of the order.
  const buy = await visitor.page('/buy?return=%2Frecipes%2Fchai%3Fsource%3Dmail');
  expect(buy).toContain('order="/recipes/chai" success-url="/recipes/chai?source=mail"');
  await visitor.pay('/recipes/chai');
  expect(await visitor.page('/recipes/chai')).toContain('Simmer the spices');
  expect(await new ShopVisitor(site).redirectOf('/recipes/chai')).toContain('/buy?');
});

test('the admin page lists payments for admins only', async () => {
  expect(await visitor.redirectOf('/admin')).toBe('/login');
  await visitor.logInByPassword();
  const path = await visitor.order('tea');
  await visitor.pay(orderOf(path));
  expect(await visitor.page('/admin')).toMatch(new RegExp(`<td>Order ${orderOf(path)}<td>4.50<td>settled`));
});
