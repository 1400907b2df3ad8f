import Sequencer from '@jest/test-sequencer';

/** What takes longest, by the seconds it took when this was last measured; a file that takes long belongs here. */
const longest = [
  'ledger/proof/embedded-crashes',
  'fuzz/http',
  'bench/short-forms',
  'bench/speed',
  'sequencer/call-faults',
  'sequencer/stream-faults',
  'e2e/npm-start',
  'package/examples',
  'examples/examples',
  'ledger/embedded',
  'fuzz/fuzz',
  'attack/unauthorised',
  'package/consumer',
  'browser/interruptions',
  'browser/inspector',
  'cli/doctor',
  'ledger/settlement',
  'ledger/database',
  'ledger/proof/settlement-model',
  'fleet/rolling-restart',
  'fleet/fleet',
];

const placeOf = ({ path }) => longest.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));

/** Begins with the longest, so that no processor has nothing to do in the end: of a fresh clone jest knows only sizes. */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const isLong = (test) => placeOf(test) >= 0;
    const long = tests.filter(isLong).toSorted((one, other) => placeOf(one) - placeOf(other));
    return [...long, ...super.sort(tests.filter((test) => !isLong(test)))];
  }
}
