import { formatIntent, formatList } from '../../src/cli/format-intent.js';
import type { LedgerIntent, StateChange } from '../../src/ledger/ledger.js';

const dead = {
  id: 'an id',
  kind: 'payment',
  state: 'dead',
  amount: '4.50',
  currency: 'usd',
  createdAt: new Date(0),
} as LedgerIntent;

it.each<[Partial<LedgerIntent>, string]>([
  [{ deadLetterHook: 'onPaid', attempts: 1, lastError: 'No paper.' }, 'onPaid has failed once: No paper.'],
  [{ deadLetterHook: 'onReversed', attempts: 15, lastError: 'No.' }, 'onReversed has failed 15 times: No.'],
  [{ deadLetterHook: 'verifyPayment', attempts: 0, lastError: 'Unknown.' }, 'not verified: Unknown.'],
  [{ state: 'submitted', attempts: 1, lastError: 'No paper.' }, 'No paper. (after 1 failed hook call)'],
  // A later poll can replace the error of the hook.
  [
    { state: 'submitted', attempts: 3, lastError: 'sequencer_timeout' },
    'sequencer_timeout (after 3 failed hook calls)',
  ],
])('formatList shows the last error: %j', (failure, text) => {
  expect(
    formatList([{ ...dead, ...failure }])
      .at(-1)
      ?.trim(),
  ).toBe(text);
});

const change = (from: StateChange['from'], to: StateChange['to'], second: number): StateChange => ({
  at: new Date(second * 1_000),
  from,
  to,
  attempts: 0,
});
const accepted = change('creating', 'created', 0);
const submitted = change('created', 'submitted', 1);

it.each<[LedgerIntent['state'], StateChange[], string[]]>([
  ['creating', [], ['creating']],
  ['submitted', [accepted, submitted], ['creating', 'creating -> created', 'created -> submitted']],
  ['created', [], ['created']],
  ['submitted', [submitted], ['created', 'created -> submitted']],
])('formatIntent starts the history of an intent in the state %s with its first state: %j', (state, history, lines) => {
  const printed = formatIntent({ ...dead, state, metadata: {} }, history);
  expect(printed.slice(printed.indexOf('') + 1).map((line) => line.split('  ')[1])).toEqual(lines);
});
