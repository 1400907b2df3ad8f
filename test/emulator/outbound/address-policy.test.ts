import { loopbackAddresses, publicAddresses } from '../../../src/emulator/outbound/guarded-http-client.js';

/**
 * The blocks of IANA's registries of special-purpose addresses (RFC 6890 and its successors) that are not globally
 * reachable, each by an address in it, with multicast (RFC 5771, RFC 4291) and what carries IPv4 inside (RFC 6052, 3056, 4380).
 */
const special = [
  ['0.0.0.0', 'this network'],
  ['0.255.255.255', 'this network'],
  ['10.0.0.1', 'private'],
  ['10.255.255.255', 'private'],
  ['100.64.0.1', 'shared by carriers'],
  ['100.127.255.255', 'shared by carriers'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['169.254.169.254', 'link-local, with the metadata of cloud providers'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['192.0.0.1', 'protocol assignments'],
  ['192.0.2.1', 'documentation'],
  ['192.88.99.1', 'relays of 6to4'],
  ['192.168.1.1', 'private'],
  ['198.18.0.1', 'benchmarks'],
  ['198.19.255.255', 'benchmarks'],
  ['198.51.100.1', 'documentation'],
  ['203.0.113.1', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'broadcast'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['::127.0.0.1', 'IPv4-compatible'],
  ['::ffff:127.0.0.1', 'IPv4-mapped'],
  ['::ffff:7f00:1', 'IPv4-mapped'],
  ['::ffff:8.8.8.8', 'IPv4-mapped, never published in DNS'],
  ['::ffff:0:10.0.0.1', 'IPv4-translated'],
  ['64:ff9b::10.0.0.1', 'NAT64'],
  ['64:ff9b:1::1', 'local NAT64'],
  ['100::1', 'discard only'],
  ['2001::1', 'Teredo'],
  ['2001:2::1', 'benchmarks'],
  ['2001:db8::1', 'documentation'],
  ['2002:7f00:1::', '6to4 of 127.0.0.1'],
  ['3fff::1', 'documentation'],
  ['5f00::1', 'segment routing'],
  ['fc00::1', 'unique local'],
  ['fd00::1', 'unique local'],
  ['fdff:ffff::1', 'unique local'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local with its zone'],
  ['fec0::1', 'site-local'],
  ['ff02::1', 'multicast'],
] as const;

test.each(special)('publicAddresses refuses %s: %s', (address) => {
  expect(publicAddresses(address)).toBe(false);
});

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:4860:4860::8888',
  '2606:4700:4700::1111',
  '2a00:1450:4001::1',
  '2003::1',
])('publicAddresses allows %s', (address) => {
  expect(publicAddresses(address)).toBe(true);
});

test.each([
  ['127.0.0.1', true],
  ['127.8.9.10', true],
  ['::1', true],
  ['::2', false],
  ['::ffff:127.0.0.1', false],
  ['128.0.0.1', false],
  ['10.0.0.1', false],
  ['0.0.0.0', false],
  ['8.8.8.8', false],
  ['localhost', false],
])('loopbackAddresses of %s: %s', (address, expected) => {
  expect(loopbackAddresses(address)).toBe(expected);
});

test.each(['', 'localhost', '127.1', '0x7f000001', '2130706433', '010.0.0.1', '1.1.1.1.', ' 1.1.1.1', '[::1]'])(
  'both policies refuse text that is not an IP address: "%s"',
  (text) => {
    expect([publicAddresses(text), loopbackAddresses(text)]).toEqual([false, false]);
  },
);
