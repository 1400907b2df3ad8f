import { formatIntent, formatList } from '../../src/cli/format-intent.js';
import type { LedgerPayment } from '../../src/ledger/ledger.js';

const dead = {
  id: 'an id',
  kind: 'payment',
  state: 'dead',
  amount: '4.50',
  currency: 'usd',
  createdAt: new Date(0),
} as LedgerPayment;

it.each<[Partial<LedgerPayment>, string]>([
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

it('formatIntent shows the fixed rate of a payment, and each change of its state', () => {
  const payment = {
    ...dead,
    state: 'settled',
    destination: 'an account',
    metadata: { order: 42 },
    exact: { exchangeRate: 0.25, quarks: '1800000' },
  } as unknown as LedgerPayment;
  const change = { at: new Date(60_000), from: 'created', to: 'submitted', attempts: 0 } as const;
  const lines = formatIntent(payment, [change, { ...change, from: 'submitted', to: 'settled', attempts: 2 }]);
  expect(lines).toEqual([
    'intent       an id',
    'kind         payment',
    'state        settled',
    'amount       4.50 usd',
    'rate         0.25 usd for one kin, 1800000 quarks',
    'destination  an account',
    'metadata     {"order":42}',
    '',
    '1970-01-01 00:00:00  created',
    '1970-01-01 00:01:00  created -> submitted',
    '1970-01-01 00:01:00  submitted -> settled, after 2 failed hook calls',
  ]);
});
