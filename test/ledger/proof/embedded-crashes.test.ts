import { seededRandom } from '../../wire/seeded-random.js';
import { CrashFolder, expectNothingLost } from './crash-folder.js';
import type { Death } from './crash-plan.js';

// The short form of embedded-crashes.full.test.ts with a few of its named points. SEED repeats a run.

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

/** Points between two writes that belong together. */
const points = [
  ...['after run a migration', 'after reserve', 'after submit', 'after startHook', 'after write the effect'],
  ...['after settle', 'before the commit', 'after the commit', 'after complete the login'],
];

test(`an embedded ledger that is killed at ${points.length} points with kill -9 loses and doubles nothing (SEED=${seed})`, async () => {
  const folder = await CrashFolder.create('one', seededRandom(seed));
  await folder.play(points.map((at): Death => ({ at, times: 1 })));
  expect(folder.kills).toBeGreaterThanOrEqual(points.length);
  await expectNothingLost([folder]);
}, 600_000);
