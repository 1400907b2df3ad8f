import { formatList } from '../../src/cli/format-intent.js';
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
