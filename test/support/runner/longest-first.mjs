import Sequencer from '@jest/test-sequencer';

/** What takes longest, by the seconds it took when this was last measured; a file that takes long belongs here. */
const longest = [
  'ledger/proof/embedded-crashes',
  'fuzz/http',
  'bench/short-forms.full',
  'sequencer/call-faults',
  'sequencer/stream-faults',
  'e2e/npm-start.full',
  'package/examples.full',
  'examples/examples.full',
  'ledger/embedded',
  'fuzz/fuzz',
  'attack/unauthorised',
  'package/consumer',
  'browser/interruptions.full',
  'browser/inspector.full',
  'cli/doctor',
  'ledger/settlement',
  'ledger/database',
  'ledger/proof/settlement-model',
  'fleet/rolling-restart',
  'fleet/fleet',
];

/** A long form begins where its short form would. */
const placeOf = ({ path }) =>
  longest.findIndex((name) => path.replace('.full.test.', '.test.').endsWith(`/test/${name}.test.ts`));

/**
 * Starts the longest files first, since in a fresh clone jest knows only their sizes. `TEST_ORDER=reverse` reverses the
 * order, to show that no test file depends on another.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const isLong = (test) => placeOf(test) >= 0;
    const long = tests.filter(isLong).toSorted((one, other) => placeOf(one) - placeOf(other));
    const sorted = [...long, ...super.sort(tests.filter((test) => !isLong(test)))];
    return process.env.TEST_ORDER === 'reverse' ? sorted.toReversed() : sorted;
  }
}
