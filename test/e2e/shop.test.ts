import { findOrder } from '../../example-app/dist/orders.js';
import { shorten } from '../../example-app/dist/pages/layout.js';
import { Visitor } from '../../example-app/dist/visitor.js';
import { domain } from '../support/sites/site.js';
import { begin, loggedIn, type OpenShop, openShop, order, thanked, thanksOf } from './shop-fixture.js';

let shop: OpenShop;

beforeAll(async () => {
  shop = await openShop();
});

describe('a payment', () => {
  test('becomes an order with a number when it settles, and not before', async () => {
    const visitor = new Visitor(shop.origin);
    const { secret, id } = await begin(visitor, order('pot-of-assam'));
    expect((await thanksOf(visitor, id)).state).toBe('created');

    const request = await shop.simulator.wallet().pay(secret);
    expect(request).toMatchObject({ id, kind: 'payment', amount: '4.50', currency: 'usd' });
    const text = await thanked(visitor, id);
    expect(text).toContain('A pot of Assam');
    expect(await shop.router.database.query('select id, number from tea_house.orders where id = $1', [id])).toEqual({
      rows: [{ id, number: expect.any(Number) }],
      rowCount: 1,
    });
    expect(text).toMatch(/Your number at the counter<\/dt><dd>\d+</);
  });

  test('becomes one order when the hook fails once, without traces of the failure', async () => {
    const visitor = new Visitor(shop.origin);
    const { secret, id } = await begin(visitor, order('stoneware-cup'));
    await shop.simulator.wallet().pay(secret);
    await thanked(visitor, id);
    expect(await findOrder(id, shop.router.database)).toMatchObject({ id, article: { slug: 'stoneware-cup' } });
    expect(await shop.router.intents.history(id)).toEqual([
      expect.objectContaining({ from: 'created', to: 'submitted' }),
      expect.objectContaining({ from: 'submitted', to: 'settled', attempts: 1 }),
    ]);
    expect(shop.log.text).toContain('Simulated failure.');
  });

  test('is shown only to the browser that created it', async () => {
    const { secret, id } = await begin(new Visitor(shop.origin), order('sugar-cube'));
    await shop.simulator.wallet().pay(secret);
    const stranger = await new Visitor(shop.origin).get(`/thanks/${id}`);
    expect(stranger.status).toBe(404);
    expect(stranger.text).not.toContain('sugar');
  });

  test.each([{ article: 'gold-bar' }, { article: '__proto__' }, 'sugar-cube', {}])(
    'of %j is refused as an unknown article',
    async (wrong) => {
      const { status, json } = await new Visitor(shop.origin).post('/intent', { mode: 'payment', order: wrong });
      expect(status).toBe(404);
      expect(json).toMatchObject({ code: 'request_refused', detail: 'We do not sell that.' });
    },
  );

  test('has the price of the shop for any price from the browser', async () => {
    const visitor = new Visitor(shop.origin);
    const rejected = await visitor.post('/intent', { ...order('teapot-for-two'), amount: '0.05' });
    expect(rejected).toMatchObject({ status: 400, json: { code: 'terms_not_accepted' } });
    const { secret } = await begin(visitor, { mode: 'payment', order: { article: 'teapot-for-two', price: '0.05' } });
    expect((await shop.simulator.wallet().scan(secret)).amount).toBe('30.00');
  });
});

describe('a login', () => {
  test('opens the account, and the logout closes it', async () => {
    const visitor = new Visitor(shop.origin);
    const closed = await visitor.get('/account');
    expect([closed.status, closed.headers.get('location')]).toEqual([303, '/login']);

    const { secret, id } = await begin(visitor, { mode: 'login' });
    await shop.simulator.wallet('Ben').login(secret);
    const user = { id: shop.simulator.wallet('Ben').userId(domain) };
    expect(await visitor.post('/session', { id })).toMatchObject({ status: 200, json: { user } });

    const account = await visitor.get('/account');
    expect(account.text).toContain(shorten(user.id));
    expect((await visitor.get('/')).text).toContain('My account');
    expect((await visitor.get('/login')).headers.get('location')).toBe('/account');

    // A login is no payment: nothing was settled.
    expect(await shop.router.intents.find(id)).toMatchObject({ kind: 'login', state: 'completed', attempts: 0 });

    expect((await visitor.delete('/session')).status).toBe(204);
    expect((await visitor.get('/account')).status).toBe(303);
    expect((await visitor.get('/')).text).not.toContain('My account');
  });

  test('renews the session and invalidates the previous cookie', async () => {
    const visitor = new Visitor(shop.origin);
    const logIn = async (wallet: string): Promise<string> => {
      const { secret, id } = await begin(visitor, { mode: 'login' });
      await shop.simulator.wallet(wallet).login(secret);
      const { status, headers } = await visitor.post('/session', { id });
      const [line = ''] = headers.getSetCookie().filter((one) => one.startsWith('shop='));
      expect([status, line]).toEqual([200, expect.stringMatching(/; HttpOnly; SameSite=Lax$/)]);
      return line.split(';')[0] ?? '';
    };
    const userOf = async (cookie: string): Promise<unknown> => {
      const session = await fetch(`${shop.origin}/session`, { headers: { cookie } });
      return ((await session.json()) as { user: unknown }).user;
    };
    const first = await logIn('Ada');
    expect(await userOf(first)).toEqual({ id: shop.simulator.wallet('Ada').userId(domain) });
    const second = await logIn('Ben');
    expect(await userOf(second)).toEqual({ id: shop.simulator.wallet('Ben').userId(domain) });
    expect(await userOf(first)).toBeNull();
  });
});

describe('the account', () => {
  test('lists only what this user paid while logged in', async () => {
    const mia = await loggedIn(shop, 'Mia');
    expect((await mia.get('/account')).text).toContain('Nothing yet');

    const { secret, id } = await begin(mia, order('teapot-for-two'));
    await shop.simulator.wallet('Mia').pay(secret);
    await thanked(mia, id);
    await begin(mia, order('ginger-biscuit'));
    const stranger = new Visitor(shop.origin);
    const anonymous = await begin(stranger, order('stoneware-cup'));
    await shop.simulator.wallet('Mia').pay(anonymous.secret);
    await thanked(stranger, anonymous.id);

    const { text } = await mia.get('/account');
    expect(text).toContain('Teapot for two');
    expect(text).not.toContain('Ginger biscuit');
    expect(text).not.toContain('Stoneware cup');

    const ben = await loggedIn(shop, 'Ben');
    expect((await ben.get('/account')).text).not.toContain('Teapot for two');
    const miaElsewhere = await loggedIn(shop, 'Mia');
    expect((await miaElsewhere.get('/account')).text).toContain('Teapot for two');
  });
});

describe('the shop without the sequencer', () => {
  test('stays open and reports what it cannot do', async () => {
    const shopWithoutService = await openShop();
    const visitor = await loggedIn(shopWithoutService);
    const { id } = await begin(visitor, order('sugar-cube'));
    await shopWithoutService.simulator.close();

    expect((await thanksOf(visitor, id)).state).toBe('created');
    expect((await visitor.get('/account')).status).toBe(200);
    expect((await visitor.get('/')).status).toBe(200);
    expect(await visitor.post('/intent', order('sugar-cube'))).toMatchObject({
      status: 503,
      json: { code: 'sequencer_unreachable' },
    });
  });
});
