import fc from 'fast-check';
import { AgedMap } from '../../src/async/aged-map.js';

test('it is a map whose first entry is the oldest, whatever comes and goes', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const step = fc.oneof(
    fc.record({ act: fc.constant('set' as const), key }),
    fc.record({ act: fc.constant('delete' as const), key }),
    fc.record({ act: fc.constant('drop' as const), key }),
    fc.record({ act: fc.constant('look' as const), key }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const map = new AgedMap<number>();
      const model = new Map<string, number>();
      steps.forEach(({ act, key }, index) => {
        const [oldest] = model;
        if (act === 'set') {
          map.set(key, index);
          model.delete(key);
          model.set(key, index);
        } else if (act === 'delete') {
          expect(map.delete(key)).toBe(model.delete(key));
        } else if (act === 'drop' && oldest) {
          expect(map.delete(map.oldest()?.key ?? '')).toBe(model.delete(oldest[0]));
        } else {
          expect(map.oldest()).toEqual(oldest && { key: oldest[0], value: oldest[1] });
        }
        expect([map.get(key), map.size]).toEqual([model.get(key), model.size]);
      });
    }),
    { numRuns: 500 },
  );
});
