import { isOnOrigin } from '../../src/intents/is-on-origin.js';
import { hostileAddresses } from '../attack/support/hostile-addresses.js';

const page = 'https://shop.example/articles/tea';

/** The address a browser on the page would open, if the rule allows it. */
function returnAddress(text: string, base: string, others: readonly string[] = []): string | undefined {
  if (!URL.canParse(text, base)) return undefined;
  const { href } = new URL(text, base);
  return isOnOrigin(href, [new URL(base).origin, ...others]) ? href : undefined;
}

test.each([
  ['/thanks', 'https://shop.example/thanks'],
  ['', page],
  ['https://shop.example:443/x', 'https://shop.example/x'],
  ['HTTPS://SHOP.EXAMPLE/x', 'https://shop.example/x'],
  ['/登录', 'https://shop.example/%E7%99%BB%E5%BD%95'],
  ['/..//evil.example', 'https://shop.example//evil.example'],
])('the return address %j resolves to %s', (text, expected) => {
  expect(returnAddress(text, page)).toBe(expected);
});

test.each([
  'https://evil.example/',
  'http://shop.example/',
  'https://shop.example:444/',
  'https://shop.example.evil.example/',
  'https://shop.example@evil.example/',
  'https://user@shop.example/',
  'https://www.shop.example/',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '\n//evil.example',
  'https:/\\evil.example',
  'javascript:alert(1)',
  'java\tscript:alert(1)',
  'data:text/html,x',
  'blob:https://shop.example/4f1c',
  'https://',
  'http://[::',
])('the return address %j is rejected', (text) => {
  expect(returnAddress(text, page)).toBeUndefined();
});

test('a return origin is accepted if it is listed in exactly this form', () => {
  const origins = ['https://www.shop.example', 'http://localhost:3000'];
  const to = (text: string) => returnAddress(text, page, origins);
  expect(to('https://www.shop.example/x')).toBe('https://www.shop.example/x');
  expect(to('http://localhost:3000/x')).toBe('http://localhost:3000/x');
  expect(to('//www.shop.example/x')).toBe('https://www.shop.example/x');
  for (const other of ['http://www.shop.example/', 'http://localhost/', 'https://a.www.shop.example/']) {
    expect(to(other)).toBeUndefined();
  }
  expect(returnAddress('blob:https://www.shop.example/4f1c', page, [...origins, 'null'])).toBeUndefined();
  expect(returnAddress('data:text/html,x', page, ['null'])).toBeUndefined();
});

test('none of two hundred hostile return addresses leads to another host', () => {
  const led = hostileAddresses.map((address) => returnAddress(address, page)).filter((url) => url !== undefined);
  expect(led.every((url) => url.startsWith('https://shop.example/'))).toBe(true);
  expect(hostileAddresses.length - led.length).toBeGreaterThan(100);
});
