import { seededRandom } from '../../wire/seeded-random.js';
import { CrashFolder, expectNothingLost } from './crash-folder.js';
import { type Death, migrationPoints, planDeaths, workPoints } from './crash-plan.js';

// Processes with an embedded ledger are killed at named points and at random moments while customers buy. The next process
// opens the same folder. KILLS=1000 runs more rounds, SEED repeats a plan.

const kills = Number(process.env.KILLS ?? 100);
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

test(
  `an embedded ledger that is killed ${kills} times with kill -9 loses and doubles nothing (SEED=${seed})`,
  async () => {
    const random = seededRandom(seed);
    // Two concurrent folders, for two cores.
    const folders = [await CrashFolder.create('one', random), await CrashFolder.create('two', random)] as const;
    const migrating = migrationPoints.map((at): Death => ({ at, times: 1 }));
    const deaths = planDeaths(workPoints, kills - migrating.length, random);
    await Promise.all([folders[0].play(migrating).then(() => folders[0].play(deaths)), folders[1].play(deaths)]);
    expect(folders[0].kills + folders[1].kills).toBeGreaterThanOrEqual(kills);
    await expectNothingLost(folders);
    const events = folders.flatMap(({ shop }) => shop.truth.events.map(({ what }) => what));
    expect(new Set(events)).toEqual(new Set(['created', 'secret returned', 'paid', 'reversed', 'answered']));
  },
  60_000 + kills * 18_000,
);
