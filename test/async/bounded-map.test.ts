import { inspect } from 'node:util';
import fc from 'fast-check';
import { BoundedMap } from '../../src/async/bounded-map.js';

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
