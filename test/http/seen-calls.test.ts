import { SeenCalls } from '../../src/http/seen-calls.js';

test('a call is new once, until its time is over', () => {
  let nowMs = 0;
  const seen = new SeenCalls({ ttlMs: 10, now: () => nowMs, capacity: 10 });
  expect([seen.add('a'), seen.add('a'), seen.add('b')]).toEqual([true, false, true]);
  nowMs = 9;
  expect(seen.add('a')).toBe(false);
  nowMs = 10;
  expect(seen.add('a')).toBe(true);
});

test('being seen again does not lengthen the time', () => {
  let nowMs = 0;
  const seen = new SeenCalls({ ttlMs: 10, now: () => nowMs, capacity: 10 });
  seen.add('a');
  nowMs = 9;
  seen.add('a');
  nowMs = 10;
  expect(seen.add('a')).toBe(true);
});

test('the oldest makes room, and no other', () => {
  const seen = new SeenCalls({ ttlMs: 10, now: () => 0, capacity: 3 });
  for (const digest of ['a', 'b', 'c', 'd']) seen.add(digest);
  expect([seen.add('b'), seen.add('c'), seen.add('d')]).toEqual([false, false, false]);
  expect(seen.add('a')).toBe(true);
});
