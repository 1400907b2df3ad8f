import { seededRandom } from '../../wire/seeded-random.js';
import { CrashFolder, expectNothingLost } from './crash-folder.js';
import type { Death } from './crash-plan.js';

// The short form of embedded-crashes.full.test.ts: a few of its named points. SEED for the same customers again.

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

/** Where a payment or a login is between two things that belong together. */
const points = [
  ...['after create the tables', 'after reserve', 'after submit', 'after begin the hook', 'after write the effect'],
  ...['after settle', 'before the commit', 'after the commit', 'after complete the login'],
];

test(`an embedded ledger survives kill -9 at ${points.length} points: nothing is lost or done twice (SEED=${seed})`, async () => {
  const folder = await CrashFolder.create('one', seededRandom(seed));
  await folder.play(points.map((at): Death => ({ at, times: 1 })));
  expect(folder.kills).toBeGreaterThanOrEqual(points.length);
  await expectNothingLost([folder]);
}, 600_000);
