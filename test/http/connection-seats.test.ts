import { ConnectionSeats, countedAddress } from '../../src/http/connection-seats.js';

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['::FFFF:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['192.0.2.1:4711', '192.0.2.1:4711'],
  ['unknown', 'unknown'],
  [undefined, ''],
])('the address %s counts as %s', (ip, counted) => {
  expect(countedAddress(ip)).toBe(counted);
});

test('what a proxy passes on as an address is not kept at any length', () => {
  expect(countedAddress('x'.repeat(10_000))).toHaveLength(64);
});

test('a process that is full is told of again only after it was half empty', () => {
  let told = 0;
  const seats = new ConnectionSeats({ perBrowser: 9, perAddress: 9, perProcess: 2 }, () => {
    told += 1;
  });
  const visitor = { browser: undefined, address: 'a' };
  const fill = (): void => {
    for (let n = 0; n < 4; n += 1) {
      try {
        seats.take(visitor);
      } catch {
        // It is full.
      }
    }
  };
  fill();
  expect([told, seats.taken]).toEqual([1, 2]);
  seats.leave(visitor);
  fill();
  expect([told, seats.taken]).toEqual([2, 2]);
});

test('a seat that is refused counts nowhere', () => {
  const seats = new ConnectionSeats({ perBrowser: 5, perAddress: 1, perProcess: 5 }, () => undefined);
  seats.take({ browser: 'b', address: 'a' });
  expect(() => seats.take({ browser: 'b', address: 'a' })).toThrow('1 streams');
  seats.leave({ browser: 'b', address: 'a' });
  expect([seats.taken, seats.visitors]).toEqual([0, 0]);
});
