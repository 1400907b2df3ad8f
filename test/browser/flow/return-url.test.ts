// The page's address, and the configuration of the site.
const location = new URL('https://shop.example/articles/tea?x=1');
const returnOrigins = ['https://www.shop.example', 'http://localhost:3000'];
const intentSite = { routes: { elements: '/intent/v1' }, returnOrigins };
Object.assign(globalThis, { location, intentSite });
const { returnUrl, walletLink } = await import('../../../src/browser/flow/return-url.js');
const { httpUrl } = await import('../../../src/browser/validation.js');

test.each([
  ['/thanks/{{INTENT_ID}}', 'https://shop.example/thanks/a%2Fb'],
  ['done?id={{INTENT_ID}}&again={{INTENT_ID}}', 'https://shop.example/articles/done?id=a%2Fb&again=a%2Fb'],
  ['https://shop.example', 'https://shop.example/'],
  ['https://www.shop.example/thanks', 'https://www.shop.example/thanks'],
  ['http://localhost:3000/ok', 'http://localhost:3000/ok'],
])('returnUrl resolves %s', (template, expected) => {
  expect(returnUrl(template, 'a/b')).toBe(expected);
});

test.each([
  'javascript:alert(1)',
  ' JavaScript:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,x',
  'file:///etc',
  'https://',
  'wallet:x',
])('returnUrl and httpUrl refuse %j', (template) => {
  expect(() => returnUrl(template, 'id')).toThrow('The url must be an http or https URL.');
  expect(() => httpUrl(template, 'walletUrl')).toThrow('walletUrl must be an http or https URL.');
});

test.each([
  'https://other.example/',
  'http://shop.example/',
  '//other.example',
  'https://{{INTENT_ID}}/',
  'http://localhost/',
])('returnUrl refuses %j as another origin', (template) => {
  expect(() => returnUrl(template, 'id')).toThrow('The url must be a URL of this site');
});

test('the id is escaped in the address', () => {
  expect(returnUrl('/{{INTENT_ID}}', '../?#')).toBe('https://shop.example/..%2F%3F%23');
});

test('walletLink puts the secret and the return URLs into the fragment', () => {
  expect(walletLink('https://wallet.example/open?a=1', 'SECRET')).toBe('https://wallet.example/open?a=1#SECRET');
  const back = { success: 'https://shop.example/ok?a=1&b=2#c', cancel: 'https://shop.example/no' };
  expect(walletLink('https://wallet.example/', 'SECRET', back)).toBe(
    'https://wallet.example/#SECRET&success=https%3A%2F%2Fshop.example%2Fok%3Fa%3D1%26b%3D2%23c&cancel=https%3A%2F%2Fshop.example%2Fno',
  );
});
