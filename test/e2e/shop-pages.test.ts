import type { Article } from '../../example-app/dist/articles.js';
import { accountPage } from '../../example-app/dist/pages/account.js';
import { articlePage } from '../../example-app/dist/pages/article.js';
import { layout } from '../../example-app/dist/pages/layout.js';
import { thanksPage } from '../../example-app/dist/pages/thanks.js';
import { Visitor } from '../../example-app/dist/visitor.js';
import { begin, loggedIn, type OpenShop, openShop, order, thanked } from './shop-fixture.js';

let shop: OpenShop;

beforeAll(async () => {
  shop = await openShop();
});

/** One page of each kind for a logged-in visitor, and the login page. */
async function everyPage(): Promise<{ path: string; text: string; headers: Headers }[]> {
  const visitor = await loggedIn(shop);
  const { id } = await begin(visitor, order('sugar-cube'));
  const logIn = await new Visitor(shop.origin).get('/login');
  const bought = await begin(visitor, order('ginger-biscuit'));
  await shop.simulator.wallet().pay(bought.secret);
  await thanked(visitor, bought.id);
  const paths = [
    '/',
    '/articles/pot-of-assam',
    `/thanks/${bought.id}`,
    '/account',
    `/thanks/${id}`,
    '/nowhere',
    '/articles/%ff',
  ];
  const pages = await Promise.all(paths.map(async (path) => ({ path, ...(await visitor.get(path)) })));
  return [...pages, { path: '/login', ...logIn }];
}

const own = "'self'";
const policy = [
  "default-src 'none'",
  `script-src ${own}`,
  `style-src ${own}`,
  `connect-src ${own}`,
  `img-src ${own} data:`,
  `form-action ${own}`,
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join(';');

describe('every page', () => {
  test('has a strict policy, is never stored, and reveals nothing about the server', async () => {
    for (const { headers } of await everyPage()) {
      expect(headers.get('content-security-policy')).toBe(policy);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.has('x-powered-by')).toBe(false);
    }
  });

  test('has no script, style or handler in its markup', async () => {
    for (const { text } of await everyPage()) {
      expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/i);
      for (const [, attributes, body] of text.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)) {
        expect(attributes).toContain(' src="/js/');
        expect(body).toBe('');
      }
    }
  });

  test('never contains a client secret', async () => {
    const visitor = new Visitor(shop.origin);
    const { id, secret } = await begin(visitor, order('sugar-cube'));
    for (const path of ['/', '/articles/sugar-cube', `/thanks/${id}`]) {
      expect((await visitor.get(path)).text).not.toContain(secret);
    }
  });
});

describe('markup', () => {
  const hostile = `"><script>alert(1)</script><img src=x onerror='alert(2)'>&`;
  const escaped = '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&#39;alert(2)&#39;&gt;&amp;';

  test('of a page escapes all texts', () => {
    const article = {
      slug: hostile,
      name: hostile,
      price: hostile,
      tagline: hostile,
    } as const satisfies Article;
    const visit = { userId: hostile, isSimulated: false };
    const placed = { id: hostile, number: 1, article, paidAt: new Date(0), isReversed: false };
    const intent = { id: hostile, state: 'settled', createdAt: new Date(0) } as const;
    const thanks = thanksPage({ intent, article, order: placed });
    for (const page of [articlePage(article), accountPage(hostile, [placed]), thanks]) {
      const markup = String(layout(page, visit));
      expect(markup).toContain(escaped);
      expect(markup).not.toMatch(/<script>|<img src=x/);
    }
  });
});
