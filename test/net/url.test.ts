import { isLoopback, parseHttpUrl, parseUrl } from '../../src/net/url.js';

test.each(['localhost', '127.0.0.1', '127.8.9.10', '[::1]', '::1'])('isLoopback is true for %s', (hostname) => {
  expect(isLoopback(hostname)).toBe(true);
});

test.each([
  '',
  'example.com',
  'localhost.example.com',
  'shop.localhost',
  '127.example.com',
  '127.0.0.1.example.com',
  '127.0.0.999',
  '127.1',
  '0.0.0.0',
  '10.0.0.1',
  '[::]',
  '[::ffff:127.0.0.1]',
])('isLoopback is false for %p', (hostname) => {
  expect(isLoopback(hostname)).toBe(false);
});

test('parseUrl and parseHttpUrl return undefined for invalid input', () => {
  expect([parseUrl('no url'), parseHttpUrl('no url'), parseHttpUrl('ftp://example.com')]).toEqual(
    Array(3).fill(undefined),
  );
  expect([parseUrl('ftp://example.com')?.hostname, parseHttpUrl('http://example.com')?.hostname]).toEqual([
    'example.com',
    'example.com',
  ]);
});
