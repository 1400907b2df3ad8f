import { isDeepStrictEqual } from 'node:util';
import { RecentStatuses } from '../../../src/sequencer/watch/recent-statuses.js';
import { pending, submitted } from '../../support/transports/status-transport.js';

const capacity = 50;

/** A generator with a fixed seed (Park and Miller), so that a failure can be repeated. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

/** Sets, deletes and reads random intents. @returns each status that was read, and the last one that was set, if it is fresh */
function runRandomly(seed: number, intents: number) {
  const next = numbers(seed);
  let now = 1_000;
  const statuses = new RecentStatuses(capacity, () => now);
  const model = new Map<string, { status: typeof pending; at: number }>();
  const reads: { found: typeof pending | undefined; expected: typeof pending | undefined }[] = [];
  const sizes: number[] = [];
  for (let step = 0; step < 5_000; step += 1) {
    const id = `intent ${next(intents)}`;
    const operation = next(10);
    if (operation < 5) {
      const status = next(2) === 0 ? pending : submitted;
      statuses.set(id, status);
      model.set(id, { status, at: now });
    } else if (operation === 5) {
      statuses.delete(id);
      model.delete(id);
    }
    const set = model.get(id);
    const isFresh = set && now - set.at < (set.status.intentSubmitted ? 60_000 : 250);
    reads.push({ found: statuses.get(id), expected: isFresh ? set.status : undefined });
    sizes.push(statuses.size);
    now += next(20);
  }
  return { reads, largest: Math.max(...sizes) };
}

test.each([1, 2, 3, 4, 5])('RecentStatuses below its capacity returns each fresh status, seed %i', (seed) => {
  const { reads } = runRandomly(seed, capacity);
  expect(reads.filter(({ found, expected }) => !isDeepStrictEqual(found, expected))).toEqual([]);
});

test.each([1, 2, 3, 4, 5])('RecentStatuses at its capacity returns a fresh status or none, seed %i', (seed) => {
  const { reads, largest } = runRandomly(seed, 80);
  expect(reads.filter(({ found, expected }) => found && !isDeepStrictEqual(found, expected))).toEqual([]);
  expect(reads.filter(({ found, expected }) => expected && !found)).not.toEqual([]);
  expect(largest).toBe(capacity);
});

test('RecentStatuses evicts no intent while the place of a deleted one is free', () => {
  const statuses = new RecentStatuses(2, () => 0);
  for (const id of ['first', 'second', 'second']) statuses.set(id, pending);
  statuses.delete('second');
  statuses.set('third', submitted);
  expect(['first', 'second', 'third'].map((id) => statuses.get(id))).toEqual([pending, undefined, submitted]);
});
