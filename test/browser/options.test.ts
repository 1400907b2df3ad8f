// The page's address, and the configuration of the site.
const intentSite = {
  routes: { intent: '/intent', status: '/status', events: '/intent', session: '/session', elements: '/intent/v1' },
  returnOrigins: [],
};
Object.assign(globalThis, { location: new URL('https://shop.example/'), intentSite });
Object.defineProperty(globalThis, 'navigator', { value: { languages: ['en'] }, configurable: true });
const { checkOptions, resolveSettings } = await import('../../src/browser/options.js');

test('checkOptions accepts every option with its fields', () => {
  const valid = {
    mode: 'payment',
    order: { article: 'tea' },
    amount: 4.5,
    payee: 'Shop',
    appearance: 'dark',
    locale: 'de-AT',
    label: 'Pay',
    walletUrl: 'https://wallet.example/open',
    expiresInMs: 60_000,
    routes: { intent: '/pay', status: false, events: '/live', session: '/login' },
    base: '/shop',
    successUrl: '/thanks',
    cancelUrl: '',
    login: { clientSecret: '3RbiRuR782EswuYr4BgMkN1ynJs', verifier: '1'.repeat(32) },
  };
  expect(() => checkOptions(valid)).not.toThrow();
  expect(() => checkOptions(Object.fromEntries(Object.keys(valid).map((name) => [name, undefined])))).not.toThrow();
});

test.each([
  [{ lable: 'Pay' }, 'Unknown option lable. Valid options: mode, order, amount, payee, appearance, locale, label, '],
  [{ toString: 'x' }, 'Unknown option toString. Valid options: mode, '],
  [{ routes: { sesion: '/login' } }, 'Unknown option sesion. Valid options: intent, status, events, session, '],
  [{ sucessUrl: '/thanks' }, 'Unknown option sucessUrl. Valid options: mode, '],
  [{ successUrl: { url: '/thanks' } }, 'The successUrl must be an http or https URL.'],
  [{ login: { client_secret: 'x' } }, 'Unknown option client_secret. Valid options: clientSecret, verifier.'],
  [{ login: true }, 'The login must be an object.'],
  [{ login: null }, 'The login must be an object.'],
  [{ payee: 5 }, 'The payee must be a string.'],
  [{ walletUrl: 5 }, 'The walletUrl must be an http or https URL.'],
  [{ cancelUrl: 'https://other.example/' }, 'The cancelUrl must be a URL of this site or of returnOrigins.'],
])('checkOptions refuses %j', (options, message) => {
  expect(() => checkOptions(options)).toThrow(TypeError);
  expect(() => checkOptions(options)).toThrow(message);
});

/** The settings of an element with these attributes. */
function settingsOf(attributes: Readonly<Record<string, string>>) {
  const element = {
    getAttribute: (name: string) => attributes[name] ?? null,
    closest: () => null,
    getRootNode: () => ({}),
  };
  return resolveSettings(element as unknown as HTMLElement, {});
}

test.each([
  ['42', '42'],
  ['007', '007'],
  ['1e5', '1e5'],
  ['12345678901234567890', '12345678901234567890'],
  ['tea', 'tea'],
  ['"tea"', '"tea"'],
  ['true', 'true'],
  ['', ''],
  ['{"id":42,"qty":2}', { id: 42, qty: 2 }],
  ['\n  {"id":42}\n', { id: 42 }],
  ['[1,"a"]', [1, 'a']],
])('the attribute order=%j is the order %j', (text, order) => {
  const settings = settingsOf({ order: text });
  expect(settings.order).toEqual(order);
  expect(settings.orderJson).toBe(JSON.stringify({ mode: 'payment', order }));
});

test.each(['{id:42}', '[object Object]'])('the attribute order=%j is refused, because it is not JSON', (order) => {
  expect(() => settingsOf({ order })).toThrow(SyntaxError);
});
