import type { LedgerIntent, StateChange } from '../ledger/ledger.js';
import { printable } from '../printable.js';

const columns = (state: string, time: string, amount: string, id: string): string =>
  printable(`${state.padEnd(10)} ${time.padEnd(20)} ${amount.padEnd(18)} ${id}`);

/** In UTC, to the second. */
const formatTime = (date: Date): string => date.toISOString().slice(0, 19).replace('T', ' ');

const formatAmount = (intent: LedgerIntent): string =>
  intent.kind === 'payment' ? `${intent.amount} ${intent.currency}` : 'login';

export const formatIntentCount = (count: number): string => `${count} ${count === 1 ? 'intent' : 'intents'}`;

export function formatList(intents: readonly LedgerIntent[]): string[] {
  return [
    columns('STATE', 'CREATED (UTC)', 'AMOUNT', 'INTENT'),
    ...intents.flatMap((intent) => {
      const line = columns(intent.state, formatTime(intent.createdAt), formatAmount(intent), intent.id);
      const failure = formatFailure(intent);
      return failure ? [line, printable(`           ${failure}`)] : [line];
    }),
  ];
}

function formatFailure({ deadLetterHook, attempts, lastError }: LedgerIntent): string | undefined {
  if (lastError === undefined) return undefined;
  if (deadLetterHook === 'verifyPayment') return `not verified: ${lastError}`;
  if (deadLetterHook)
    return `${deadLetterHook} has failed ${attempts === 1 ? 'once' : `${attempts} times`}: ${lastError}`;
  // The last error can be that of a poll or of `verifyPayment`, which count no attempt.
  return `${lastError}${attempts > 0 ? ` (after ${formatFailedCalls(attempts)})` : ''}`;
}

const formatFailedCalls = (count: number): string => `${count} failed hook ${count === 1 ? 'call' : 'calls'}`;

export function formatIntent(intent: LedgerIntent, history: readonly StateChange[]): string[] {
  const terms = intent.kind === 'payment' ? intent : undefined;
  const details: readonly (readonly [name: string, value: string | undefined])[] = [
    ['intent', intent.id],
    ['kind', terms?.login ? `${intent.kind}, with a login` : intent.kind],
    ['state', intent.state],
    ['last error', formatFailure(intent)],
    ['amount', terms && formatAmount(terms)],
    ['rate', terms?.exact && `${terms.exact.exchangeRate} ${terms.currency} for one kin, ${terms.exact.quarks} quarks`],
    ['destination', terms?.destination],
    ['description', terms?.description],
    ['resource', terms?.resource],
    ['metadata', terms && Object.keys(terms.metadata).length > 0 ? JSON.stringify(terms.metadata) : undefined],
    ['user', intent.userId],
    ['next step', intent.dueAt && `${formatTime(intent.dueAt)} UTC`],
  ];
  const wasCreating = [intent.state, ...history.map(({ from }) => from)].includes('creating');
  const events = [
    { at: intent.createdAt, what: wasCreating ? 'creating' : 'created' },
    ...history.map(({ at, from, to, attempts }) => {
      const after = attempts > 0 ? `, after ${formatFailedCalls(attempts)}` : '';
      return { at, what: `${from} -> ${to}${after}` };
    }),
    // The history of a login contains its completion.
    ...(intent.loginCompletedAt && intent.kind === 'payment'
      ? [{ at: intent.loginCompletedAt, what: 'login completed' }]
      : []),
  ];
  events.sort((one, other) => one.at.getTime() - other.at.getTime());
  return [
    ...details.flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(13)}${printable(value)}`])),
    '',
    ...events.map(({ at, what }) => printable(`${formatTime(at)}  ${what}`)),
  ];
}
