import { RecentStatuses } from '../../../src/sequencer/watch/recent-statuses.js';
import { pending, submitted } from '../../support/transports/status-transport.js';

const capacity = 50;

/** Everything that the class promises, with a list of its entries. Only the entry to replace is taken from the class. */
class Model {
  readonly entries = new Map<string, { status: typeof pending; at: number }>();

  get(id: string, now: number): typeof pending | undefined {
    const entry = this.entries.get(id);
    if (!entry) return undefined;
    return now - entry.at < (entry.status.intentSubmitted ? 60_000 : 250) ? entry.status : undefined;
  }
}

/** A generator with a fixed seed (Park and Miller), so that a failure can be repeated. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

test.each([1, 2, 3, 4, 5])(
  'RecentStatuses holds the last status of each intent after random operations, seed %i',
  (seed) => {
    const next = numbers(seed);
    let now = 1_000;
    const statuses = new RecentStatuses(capacity, () => now);
    const model = new Model();
    const forgotten = new Set<string>();
    for (let step = 0; step < 2_000; step += 1) {
      const id = `intent ${next(80)}`;
      const operation = next(10);
      if (operation < 5) {
        const status = next(2) === 0 ? pending : submitted;
        statuses.set(id, status);
        model.entries.set(id, { status, at: now });
        forgotten.delete(id);
        expect(statuses.get(id)).toEqual(status);
      } else if (operation === 5) {
        statuses.delete(id);
        model.entries.delete(id);
        expect(statuses.get(id)).toBeUndefined();
      } else {
        // An evicted intent has no status. Every other one has the last status, and never that of another intent.
        const found = statuses.get(id);
        if (found) expect(found).toEqual(model.get(id, now));
        else if (model.get(id, now)) forgotten.add(id);
      }
      expect(statuses.size).toBeLessThanOrEqual(capacity);
      now += next(20);
    }
    expect(statuses.size).toBeGreaterThan(capacity / 2);
    expect(forgotten.size).toBeGreaterThan(0);
  },
);

test('RecentStatuses below its capacity evicts nothing', () => {
  const statuses = new RecentStatuses(capacity, () => 0);
  const ids = Array.from({ length: capacity }, (_, at) => `intent ${at}`);
  for (const id of ids) statuses.set(id, pending);
  expect(statuses.size).toBe(capacity);
  expect(ids.filter((id) => statuses.get(id) === undefined)).toEqual([]);
});

test('RecentStatuses at its capacity evicts an intent that was not set again, even if all others were', () => {
  const statuses = new RecentStatuses(capacity, () => 0);
  const ids = Array.from({ length: capacity }, (_, at) => `intent ${at}`);
  for (const id of ids) statuses.set(id, pending);
  for (const id of ids) if (id !== 'intent 17') statuses.set(id, submitted);
  statuses.set('new', pending);
  expect(ids.filter((id) => statuses.get(id) === undefined)).toEqual(['intent 17']);
  expect(statuses.get('new')).toEqual(pending);
});

test('RecentStatuses at its capacity evicts one intent if all were set again', () => {
  const statuses = new RecentStatuses(capacity, () => 0);
  const ids = Array.from({ length: capacity }, (_, at) => `intent ${at}`);
  for (const id of [...ids, ...ids]) statuses.set(id, pending);
  statuses.set('new', pending);
  expect(ids.filter((id) => statuses.get(id) === undefined)).toHaveLength(1);
  expect(statuses.size).toBe(capacity);
});

test('RecentStatuses keeps a status that was deleted and set again when its first place is used again', () => {
  const statuses = new RecentStatuses(2, () => 0);
  statuses.set('first', pending);
  statuses.delete('first');
  statuses.set('first', submitted);
  statuses.set('second', pending);
  expect(['first', 'second'].map((id) => statuses.get(id))).toEqual([submitted, pending]);
});
