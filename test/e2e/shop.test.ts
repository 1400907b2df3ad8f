import { jest } from '@jest/globals';
import { shorten } from '../../example-app/dist/pages/layout.js';
import { Visitor } from '../../example-app/dist/visitor.js';
import { domain } from '../support/site.js';
import { begin, loggedIn, type OpenShop, openShop, order } from './shop-fixture.js';

let shop: OpenShop;

beforeAll(async () => {
  shop = await openShop();
});

describe('a payment', () => {
  test('is pending until the wallet has confirmed, then paid, and pending again when it is reversed', async () => {
    const visitor = new Visitor(shop.origin);
    const { secret, id } = await begin(visitor, order('pot-of-assam'));
    expect((await visitor.get(`/thanks/${id}`)).text).toContain('data-payment="pending"');

    const request = await shop.sequencer.wallet().pay(secret);
    expect(request).toMatchObject({ id, kind: 'payment', amount: '4.50', currency: 'usd' });
    const paid = await visitor.get(`/thanks/${id}`);
    expect(paid.text).toContain('data-payment="paid"');
    expect(paid.text).toContain('A pot of Assam');

    shop.sequencer.reverse(id);
    expect((await visitor.get(`/thanks/${id}`)).text).toContain('data-payment="pending"');
  });

  test('stays pending when the wallet declines', async () => {
    const visitor = new Visitor(shop.origin);
    const { secret, id } = await begin(visitor, order('sugar-cube'));
    await shop.sequencer.wallet().reject(secret);
    expect((await visitor.get(`/thanks/${id}`)).text).toContain('data-payment="pending"');
  });

  test('is shown to the browser session that began it, and to no other', async () => {
    const { secret, id } = await begin(new Visitor(shop.origin), order('sugar-cube'));
    await shop.sequencer.wallet().pay(secret);
    const stranger = await new Visitor(shop.origin).get(`/thanks/${id}`);
    expect(stranger.status).toBe(404);
    expect(stranger.text).not.toContain('sugar');
  });

  test('is shown also when it is paid after a login, which renews the session', async () => {
    const visitor = new Visitor(shop.origin);
    const { secret, id } = await begin(visitor, order('pot-of-assam'));
    const login = await begin(visitor, { mode: 'login' });
    await shop.sequencer.wallet().login(login.secret);
    expect((await visitor.post('/session', { id: login.id })).status).toBe(200);
    await shop.sequencer.wallet().pay(secret);
    expect((await visitor.get(`/thanks/${id}`)).text).toContain('data-payment="paid"');
  });

  test.each([{ article: 'gold-bar' }, { article: ['sugar-cube'] }, { article: '__proto__' }, 'sugar-cube', null, {}])(
    'of %j is refused: there is no such article',
    async (wrong) => {
      const { status, json } = await new Visitor(shop.origin).post('/intent', { mode: 'payment', order: wrong });
      expect(status).toBe(404);
      expect(json).toMatchObject({ code: 'request_refused', detail: 'We do not sell that.' });
    },
  );

  test('has the price of the shelf, whatever the browser says', async () => {
    const visitor = new Visitor(shop.origin);
    const refused = await visitor.post('/intent', { ...order('teapot-for-two'), amount: '0.05' });
    expect(refused).toMatchObject({ status: 400, json: { code: 'terms_not_accepted' } });
    const { secret } = await begin(visitor, { mode: 'payment', order: { article: 'teapot-for-two', price: '0.05' } });
    expect((await shop.sequencer.wallet().scan(secret)).amount).toBe('30.00');
  });
});

describe('a login', () => {
  test('opens the account, and logging out closes it', async () => {
    const visitor = new Visitor(shop.origin);
    const closed = await visitor.get('/account');
    expect([closed.status, closed.headers.get('location')]).toEqual([303, '/login']);

    const { secret, id } = await begin(visitor, { mode: 'login' });
    await shop.sequencer.wallet('Ben').login(secret);
    const user = { id: shop.sequencer.wallet('Ben').userId(domain) };
    expect(await visitor.post('/session', { id })).toMatchObject({ status: 200, json: { user } });

    const account = await visitor.get('/account');
    expect(account.text).toContain(shorten(user.id));
    expect((await visitor.get('/')).text).toContain('My account');
    expect((await visitor.get('/login')).headers.get('location')).toBe('/account');

    expect((await visitor.delete('/session')).status).toBe(204);
    expect((await visitor.get('/account')).status).toBe(303);
    expect((await visitor.get('/')).text).not.toContain('My account');
  });

  test('cannot be completed by another browser', async () => {
    const { secret, id } = await begin(new Visitor(shop.origin), { mode: 'login' });
    await shop.sequencer.wallet().login(secret);
    const thief = new Visitor(shop.origin);
    await begin(thief, { mode: 'login' });
    expect(await thief.post('/session', { id })).toMatchObject({ status: 404, json: { code: 'intent_not_found' } });
    expect((await thief.get('/account')).status).toBe(303);
  });

  test('renews the session, so that a cookie known before is worth nothing after', async () => {
    const visitor = new Visitor(shop.origin);
    const logIn = async (wallet: string): Promise<string> => {
      const { secret, id } = await begin(visitor, { mode: 'login' });
      await shop.sequencer.wallet(wallet).login(secret);
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
    expect(await userOf(first)).toEqual({ id: shop.sequencer.wallet('Ada').userId(domain) });
    const second = await logIn('Ben');
    expect(await userOf(second)).toEqual({ id: shop.sequencer.wallet('Ben').userId(domain) });
    expect(await userOf(first)).toBeNull();
  });
});

describe('the account', () => {
  test('lists what this user has paid while logged in, and nothing else', async () => {
    const mia = await loggedIn(shop, 'Mia');
    expect((await mia.get('/account')).text).toContain('Nothing yet');

    const { secret } = await begin(mia, order('stoneware-cup'));
    await shop.sequencer.wallet('Mia').pay(secret);
    await begin(mia, order('roof-honey'));
    const anonymous = await begin(new Visitor(shop.origin), order('jasmine-pearls'));
    await shop.sequencer.wallet('Mia').pay(anonymous.secret);

    const { text } = await mia.get('/account');
    expect(text).toContain('Stoneware cup');
    expect(text).not.toContain('Honey from our roof');
    expect(text).not.toContain('Jasmine pearls');

    const ben = await loggedIn(shop, 'Ben');
    expect((await ben.get('/account')).text).not.toContain('Stoneware cup');
    const miaElsewhere = await loggedIn(shop, 'Mia');
    expect((await miaElsewhere.get('/account')).text).toContain('Stoneware cup');
  });
});

describe('when the payment service is away', () => {
  test('the shop stays open and says what it does not know', async () => {
    const lonely = await openShop();
    const told = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const visitor = await loggedIn(lonely);
    const { id } = await begin(visitor, order('sugar-cube'));
    await lonely.sequencer.close();

    const thanks = await visitor.get(`/thanks/${id}`);
    expect(thanks.status).toBe(200);
    expect(thanks.text).toContain('data-payment="unknown"');
    expect((await visitor.get('/account')).text).toContain('Cannot be checked now');
    expect(told).toHaveBeenCalledWith(`The status of order ${id} cannot be read:`, expect.any(String));
    expect((await visitor.get('/')).status).toBe(200);
    expect(await visitor.post('/intent', order('sugar-cube'))).toMatchObject({
      status: 503,
      json: { code: 'sequencer_unreachable' },
    });
  });
});
