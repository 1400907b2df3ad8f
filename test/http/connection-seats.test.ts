import { ConnectionSeats } from '../../src/http/connection-seats.js';

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
