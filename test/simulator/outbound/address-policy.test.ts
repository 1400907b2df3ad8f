import { loopbackAddresses, publicAddresses } from '../../../src/simulator/outbound/guarded-http-client.js';

/**
 * The blocks of IANA's registries of special-purpose addresses (RFC 6890 and its successors) that are not globally
 * reachable, each by an address in it, with multicast (RFC 5771, RFC 4291) and what carries IPv4 inside (RFC 6052, 3056, 4380).
 */
const special: [what: string, addresses: string][] = [
  ['this network', '0.0.0.0 0.255.255.255'],
  ['private', '10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.1.1'],
  ['shared by carriers', '100.64.0.1 100.127.255.255'],
  ['loopback', '127.0.0.1 127.255.255.254 ::1'],
  ['link-local', '169.254.169.254 fe80::1'],
  ['protocol assignments', '192.0.0.1'],
  ['documentation', '192.0.2.1 198.51.100.1 203.0.113.1 2001:db8::1 3fff::1'],
  ['relays of 6to4', '192.88.99.1'],
  ['benchmarks', '198.18.0.1 198.19.255.255 2001:2::1'],
  ['multicast', '224.0.0.1 239.255.255.255 ff02::1'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['unspecified', '::'],
  ['IPv4-compatible', '::127.0.0.1'],
  ['IPv4-mapped', '::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:8.8.8.8'],
  ['IPv4-translated', '::ffff:0:10.0.0.1'],
  ['NAT64', '64:ff9b::10.0.0.1'],
  ['local NAT64', '64:ff9b:1::1'],
  ['discard only', '100::1'],
  ['Teredo', '2001::1'],
  ['6to4 of 127.0.0.1', '2002:7f00:1::'],
  ['segment routing', '5f00::1'],
  ['unique local', 'fc00::1 fd00::1 fdff:ffff::1'],
  ['link-local with its zone', 'fe80::1%eth0'],
  ['site-local', 'fec0::1'],
];

const each = (addresses: string, policy: (address: string) => boolean): boolean[] => [
  ...new Set(addresses.split(' ').map(policy)),
];

test.each(special)('publicAddresses refuses %s: %s', (_what, addresses) => {
  expect(each(addresses, publicAddresses)).toEqual([false]);
});

test('publicAddresses allows the addresses next to these blocks, and others', () => {
  const around =
    '9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 169.253.255.255 172.15.255.255 172.32.0.0 ' +
    '192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 1.1.1.1 8.8.8.8 2001:4860:4860::8888 ' +
    '2606:4700:4700::1111 2a00:1450:4001::1 2003::1';
  expect(each(around, publicAddresses)).toEqual([true]);
});

test('loopbackAddresses allows 127.0.0.0/8 and ::1 only', () => {
  expect(each('127.0.0.1 127.8.9.10 ::1', loopbackAddresses)).toEqual([true]);
  const others = '::2 ::ffff:127.0.0.1 128.0.0.1 10.0.0.1 0.0.0.0 8.8.8.8 localhost';
  expect(each(others, loopbackAddresses)).toEqual([false]);
});

test.each(['', 'localhost', '127.1', '0x7f000001', '2130706433', '010.0.0.1', '1.1.1.1.', ' 1.1.1.1', '[::1]'])(
  'both policies refuse text that is not an IP address: "%s"',
  (text) => {
    expect([publicAddresses(text), loopbackAddresses(text)]).toEqual([false, false]);
  },
);
