import { inspect } from 'node:util';
import { ExpiringMap } from '../../src/async/expiring-map.js';

test('an entry lasts for its time, and no longer', () => {
  let nowMs = 0;
  const map = new ExpiringMap<number>({ ttlMs: 10, now: () => nowMs, capacity: 10 });
  map.set('a', 1);
  nowMs = 9;
  expect([map.get('a'), map.get('b')]).toEqual([1, undefined]);
  nowMs = 10;
  expect([map.get('a'), map.size]).toEqual([undefined, 0]);
});

test('set anew, it has all of its time again, and what was set between them ends first', () => {
  let nowMs = 0;
  const map = new ExpiringMap<number>({ ttlMs: 10, now: () => nowMs, capacity: 10 });
  map.set('a', 1);
  nowMs = 5;
  map.set('b', 2);
  nowMs = 9;
  map.set('a', 3);
  nowMs = 15;
  expect([map.get('a'), map.get('b'), map.size]).toEqual([3, undefined, 1]);
});

test('the oldest makes room, and no other', () => {
  const map = new ExpiringMap<number>({ ttlMs: 10, now: () => 0, capacity: 3 });
  for (const key of ['a', 'b', 'c', 'c', 'd']) map.set(key, 1);
  expect(['a', 'b', 'c', 'd'].filter((key) => map.get(key))).toEqual(['b', 'c', 'd']);
});

test('what is deleted is gone, once', () => {
  let nowMs = 0;
  const map = new ExpiringMap<number>({ ttlMs: 10, now: () => nowMs, capacity: 3 });
  map.set('a', 1);
  map.set('b', 1);
  expect([map.delete('a'), map.delete('a'), map.get('a')]).toEqual([true, false, undefined]);
  nowMs = 10;
  expect(map.delete('b')).toBe(false);
});

test('its entries show in nothing that is printed', () => {
  const map = new ExpiringMap<string>({ ttlMs: 10, now: () => 0, capacity: 3 });
  map.set('a', 'secret');
  expect(inspect(map, { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toContain('secret');
});
