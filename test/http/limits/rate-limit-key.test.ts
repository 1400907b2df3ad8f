import { rateLimitKey, unreadableAddress } from '../../../src/http/limits/rate-limit-key.js';

const network = '2001:db8:1::/48';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['192.0.2.1:4711', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::ffff:c000:201', '192.0.2.1'],
  ['[::ffff:192.0.2.1]:4711', '192.0.2.1'],
  ['64:ff9b::c000:201', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:0::/56', network],
  ['[2001:db8:1:2:3:4:5:6]:443', '2001:db8:1:0::/56', network],
  ['::1', '0:0:0:0::/56', '0:0:0::/48'],
  ['2001:db8:1:2ff::1', '2001:db8:1:200::/56', network],
  ['64:ff9b:1::192.0.2.1', '64:ff9b:1:0::/56', '64:ff9b:1::/48'],
  ['fe80::1%eth0', 'fe80:0:0:0::/56', 'fe80:0:0::/48'],
])('rateLimitKey maps the address %s to %s', (ip, address, around = undefined) => {
  expect(rateLimitKey(ip)).toEqual({ address, network: around });
});

test.each([
  undefined,
  '',
  'unknown',
  '0x7f.1',
  '192.0.2.1:port',
  '2001:db8::1::2',
  'x'.repeat(10_000),
  `${'1'.repeat(10_000)}:1`,
])('rateLimitKey maps %s, which is not an address, to the shared key', (ip) => {
  expect(rateLimitKey(ip)).toEqual({ address: unreadableAddress, network: undefined });
});
