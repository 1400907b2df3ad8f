import type { SeededRandom } from '../../wire/seeded-random.js';

/** How one life of a process ends. */
export type Death =
  /** It kills itself when it comes to a point for the nth time. */
  | { readonly at: string; readonly times: number }
  /**
   * It is killed from outside, wherever it may be: 0 is when it was started, 1 about when its ledger is open, 2 as long
   * after. With `closes` it was told to close its ledger a moment before.
   */
  | { readonly moment: number; readonly closes: boolean };

const both = (names: readonly string[]): string[] => names.flatMap((name) => [`before ${name}`, `after ${name}`]);

/** What a new database goes through, until it is committed. */
export const migrationPoints = both([
  'lock for the migration',
  'bound the wait for locks',
  'look for the schema',
  'create the schema',
  'create the migrations table',
  'create the tables',
  'note the migration',
]);

const onceInALife = both(['look for migrations', 'end claims']);

/** What takes its time to come about even once. */
const seldom = both([
  ...['look later', 'take back', 'hook failed', 'bury', 'look for a reversal', 'doubt', 'reverse'],
  ...['take up what was reversed', 'retry'],
]);

/** What a ledger at work comes to. */
export const workPoints = [
  ...onceInALife,
  ...both([
    ...['record', 'reserve', 'find repeated', 'confirm', 'look for what is confirmed', 'look for what is still open'],
    ...['claim due', 'claim hinted', 'heartbeat', 'look later'],
    ...['submit', 'take back', 'begin the hook', 'write the effect', 'hook failed', 'bury', 'settle'],
    ...[
      'look for a reversal',
      'doubt',
      'reverse',
      'take up what was reversed',
      'retry',
      'check the login',
      'complete the login',
    ],
  ]),
  ...['after the begin', 'before the commit', 'after the commit'],
];

/** A death at each of these points and as many at random moments, and so on until there are `count`, in any order. */
export function planDeaths(points: readonly string[], count: number, random: SeededRandom): Death[] {
  const deaths: Death[] = Array.from({ length: count }, (_, index) => {
    const at = points[index % (points.length * 2)];
    if (at === undefined) return { moment: random.below(2_000) / 1_000, closes: random.below(4) === 0 };
    return { at, times: [...onceInALife, ...seldom].includes(at) ? 1 : 1 + random.below(3) };
  });
  return deaths
    .map((death) => ({ death, place: random.below(2 ** 30) }))
    .sort((one, other) => one.place - other.place)
    .map(({ death }) => death);
}
