import Sequencer from '@jest/test-sequencer';

/** The longest test files, by measured duration, longest first. Add files that take long. */
const longest = [
  'ledger/proof/embedded-crashes',
  'ledger/proof/culprits',
  'fleet/database-outage',
  'fuzz/http',
  'bench/short-forms',
  'ledger/proof/postgres-faults',
  'attack/unauthorized',
  'ledger/proof/plans',
  'e2e/npm-start',
  'package/examples',
  'examples/examples',
  'fuzz/fuzz',
  'fleet/rolling-restart',
  'fleet/fleet',
  'ledger/migrations/side-by-side',
  'browser/inspector',
  'browser/flow/interruptions',
  'sequencer/call-faults',
  'plant/plant',
  'ledger/database/embedded/file-presence',
  'ledger/database/postgres/postgres',
  'ledger/settlement/settlement',
  'browser/attacks',
  'ledger/database/embedded/embedded-transaction',
  'http/create-intent/idempotency-key',
  'browser/flow/login',
  'testing/ledger',
  'ledger/database/embedded/embedded',
  'e2e/shop',
  'browser/flow/payment',
  'http/paywall/require-payment',
  'ledger/proof/embedded-crashes',
  'sequencer/stream-faults',
  'ledger/database/database',
  'router/ledger',
  'http/create-intent/recorded-intents',
];

/** A `.full` file has the place of its short form. */
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
