import type { SeededRandom } from '../../wire/seeded-random.js';

/** How a process is killed. */
export type Death =
  /** It kills itself when it reaches a point for the nth time. */
  | { readonly at: string; readonly times: number }
  /**
   * It is killed from outside at a random moment: 0 is its start, 1 is about when its ledger is open, 2 is as long after.
   * With `closes` its ledger is closed a moment before.
   */
  | { readonly moment: number; readonly closes: boolean };

const both = (names: readonly string[]): string[] => names.flatMap((name) => [`before ${name}`, `after ${name}`]);

/** The points of the migration of a new database. */
export const migrationPoints = both([
  'lock for the migration',
  'set the lock timeout',
  'find the schema',
  'create the schema',
  'create the migrations table',
  'run a migration',
  'record the migration',
]);

const oncePerProcess = both(['find migrations', 'release all claims']);

/** Points that are rarely reached. */
const rare = both([...['poll', 'reopen', 'fail', 'bury', 'trust', 'suspect', 'reverse'], ...['payAgain', 'retryPaid']]);

/** The points of a ledger in use. */
export const workPoints = [
  ...oncePerProcess,
  ...both([
    ...['record', 'reserve', 'find the repeated intent', 'confirm', 'find the confirmed intent', 'find unpaid'],
    ...['claim due', 'claim unpaid', 'heartbeat', 'poll'],
    ...['submit', 'reopen', 'startHook', 'write the effect', 'fail', 'bury', 'settle'],
    ...[
      'trust',
      'suspect',
      'reverse',
      'payAgain',
      'retryPaid',
      'lock the login',
      'check the login',
      'complete the login',
    ],
  ]),
  ...['after the begin', 'before the commit', 'after the commit'],
];

/** Plans `count` deaths in random order, alternating between all points and as many random moments. */
export function planDeaths(points: readonly string[], count: number, random: SeededRandom): Death[] {
  const deaths: Death[] = Array.from({ length: count }, (_, index) => {
    const at = points[index % (points.length * 2)];
    if (at === undefined) return { moment: random.below(2_000) / 1_000, closes: random.below(4) === 0 };
    return { at, times: [...oncePerProcess, ...rare].includes(at) ? 1 : 1 + random.below(3) };
  });
  return deaths
    .map((death) => ({ death, place: random.below(2 ** 30) }))
    .sort((one, other) => one.place - other.place)
    .map(({ death }) => death);
}
