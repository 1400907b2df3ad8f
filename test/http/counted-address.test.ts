import { countedAddress } from '../../src/http/counted-address.js';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:0::/56'],
  ['2001:0db8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:0::/56'],
  ['2001:DB8:1:2::', '2001:db8:1:0::/56'],
  ['2001:db8::1', '2001:db8:0:0::/56'],
  ['::1', '0:0:0:0::/56'],
  ['::', '0:0:0:0::/56'],
  ['1::2:3:4:5:6:7', '1:0:2:0::/56'],
  ['2001:db8:1:2ff::1', '2001:db8:1:200::/56'],
  ['2001:db8:1:2fe:8000::', '2001:db8:1:200::/56'],
  ['2001:db8:1:3fe::1', '2001:db8:1:300::/56'],
  ['fe80::1%eth0', 'fe80:0:0:0::/56'],
  ['192.0.2.1:4711', '192.0.2.1:4711'],
  ['unknown', 'unknown'],
  [undefined, ''],
])('the address %s counts as %s', (ip, counted) => {
  expect(countedAddress(ip)).toBe(counted);
});

test('what a proxy passes on as an address is not kept at any length', () => {
  expect(countedAddress('x'.repeat(10_000))).toHaveLength(64);
});
