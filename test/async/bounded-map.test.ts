import { inspect } from 'node:util';
import fc from 'fast-check';
import { BoundedMap } from '../../src/async/bounded-map.js';

test('an entry expires after its time to live', () => {
  let nowMs = 0;
  const map = new BoundedMap<number>({ ttlMs: 10, now: () => nowMs, capacity: 10 });
  map.set('a', 1);
  nowMs = 9;
  expect([map.get('a'), map.get('b')]).toEqual([1, undefined]);
  nowMs = 10;
  expect([map.get('a'), map.size]).toEqual([undefined, 0]);
});

test('an entry that is set again has its full time to live, and older entries expire first', () => {
  let nowMs = 0;
  const map = new BoundedMap<number>({ ttlMs: 10, now: () => nowMs, capacity: 10 });
  map.set('a', 1);
  nowMs = 5;
  map.set('b', 2);
  nowMs = 9;
  map.set('a', 3);
  nowMs = 15;
  expect([map.get('a'), map.get('b'), map.size]).toEqual([3, undefined, 1]);
});

test('the oldest entry is evicted when the map is full, and no other', () => {
  const map = new BoundedMap<number>({ ttlMs: 10, now: () => 0, capacity: 3 });
  for (const key of ['a', 'b', 'c', 'c', 'd']) map.set(key, 1);
  expect(['a', 'b', 'c', 'd'].filter((key) => map.get(key))).toEqual(['b', 'c', 'd']);
});

test('a deleted entry is gone; a second delete returns false', () => {
  let nowMs = 0;
  const map = new BoundedMap<number>({ ttlMs: 10, now: () => nowMs, capacity: 3 });
  map.set('a', 1);
  map.set('b', 1);
  expect([map.delete('a'), map.delete('a'), map.get('a')]).toEqual([true, false, undefined]);
  nowMs = 10;
  expect(map.delete('b')).toBe(false);
});

test('entries are not visible in printed output', () => {
  const map = new BoundedMap<string>({ ttlMs: 10, now: () => 0, capacity: 3 });
  map.set('a', 'secret');
  expect(inspect(map, { depth: Number.POSITIVE_INFINITY, showHidden: true })).not.toContain('secret');
});

test('a map holds the newest unexpired entries after any sequence of set, delete and get', () => {
  const capacity = 3;
  const ttlMs = 20;
  const step = fc.record({
    act: fc.constantFrom('set', 'delete', 'get'),
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    afterMs: fc.nat({ max: 12 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let nowMs = 0;
      const map = new BoundedMap<number>({ capacity, ttlMs, now: () => nowMs });
      let model: { key: string; value: number; setAtMs: number }[] = [];
      steps.forEach(({ act, key, afterMs }, index) => {
        nowMs += afterMs;
        model = model.filter(({ setAtMs }) => nowMs - setAtMs < ttlMs);
        const known = model.find((entry) => entry.key === key);
        if (act === 'get') {
          expect(map.get(key)).toBe(known?.value);
          return;
        }
        model = model.filter((entry) => entry !== known);
        if (act === 'delete') {
          expect(map.delete(key)).toBe(known !== undefined);
          return;
        }
        model = [...model, { key, value: index, setAtMs: nowMs }].slice(-capacity);
        map.set(key, index);
      });
      const left = ['a', 'b', 'c', 'd', 'e'].map((key) => map.get(key));
      expect(left).toEqual(['a', 'b', 'c', 'd', 'e'].map((key) => model.find((entry) => entry.key === key)?.value));
      expect(map.size).toBe(model.filter(({ setAtMs }) => nowMs - setAtMs < ttlMs).length);
    }),
    { numRuns: 500 },
  );
});

test('without a time to live no entry expires, and the clock is not read', () => {
  const now = (): number => {
    throw new Error('The clock was read.');
  };
  const map = new BoundedMap<number>({ capacity: 2, now });
  for (const key of ['a', 'b', 'c']) map.set(key, 1);
  expect([map.get('a'), map.get('b'), map.get('c'), map.size]).toEqual([undefined, 1, 1, 2]);
});

test('each call reads the clock once', () => {
  let reads = 0;
  const map = new BoundedMap<number>({ ttlMs: 10, now: () => reads++, capacity: 2 });
  map.set('a', 1);
  map.set('a', 2);
  map.get('a');
  map.delete('a');
  expect(reads).toBe(4);
});
