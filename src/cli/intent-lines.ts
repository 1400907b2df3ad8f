import type { LedgerIntent, StateChange } from '../ledger/ledger.js';
import { printable } from './printable.js';

const columns = (state: string, time: string, amount: string, id: string): string =>
  printable(`${state.padEnd(10)} ${time.padEnd(20)} ${amount.padEnd(18)} ${id}`);

/** In UTC, to the second. */
const timeOf = (date: Date): string => date.toISOString().slice(0, 19).replace('T', ' ');

const amountOf = ({ amount, currency }: LedgerIntent): string =>
  amount === undefined ? 'login' : `${amount} ${currency}`;

/** Lines of a list, with what has failed under those that it has. */
export function linesOfList(intents: readonly LedgerIntent[]): string[] {
  return [
    columns('STATE', 'CREATED (UTC)', 'AMOUNT', 'INTENT'),
    ...intents.flatMap((intent) => {
      const line = columns(intent.state, timeOf(intent.createdAt), amountOf(intent), intent.id);
      const failure = failureOf(intent);
      return failure ? [line, printable(`           ${failure}`)] : [line];
    }),
  ];
}

/** What has failed, and how often. */
function failureOf({ deadHook, attempts, lastError }: LedgerIntent): string | undefined {
  if (lastError === undefined) return undefined;
  const who = deadHook ?? 'it';
  const howOften = attempts > 0 ? ` ${attempts === 1 ? 'once' : `${attempts} times`}` : '';
  return `${who} has failed${howOften}: ${lastError}`;
}

/** All that is known of an intent, and what has become of it. */
export function linesOfIntent(intent: LedgerIntent, history: readonly StateChange[]): string[] {
  const details: readonly (readonly [name: string, value: string | undefined])[] = [
    ['intent', intent.id],
    ['kind', intent.login ? `${intent.kind}, with a login` : intent.kind],
    ['state', intent.state],
    ['last error', failureOf(intent)],
    ['amount', intent.amount === undefined ? undefined : amountOf(intent)],
    ['to', intent.destination],
    ['resource', intent.resource],
    ['metadata', Object.keys(intent.metadata).length > 0 ? JSON.stringify(intent.metadata) : undefined],
    ['user', intent.userId],
    ['next look', intent.dueAt && `${timeOf(intent.dueAt)} UTC`],
  ];
  const events = [
    { at: intent.createdAt, what: 'created' },
    ...history.map(({ at, from, to, attempts }) => {
      const after = attempts > 0 ? `, ${attempts} ${attempts === 1 ? 'call' : 'calls'} of its hook` : '';
      return { at, what: `${from} -> ${to}${after}` };
    }),
    ...(intent.loginCompletedAt ? [{ at: intent.loginCompletedAt, what: 'login completed' }] : []),
  ];
  events.sort((one, other) => one.at.getTime() - other.at.getTime());
  return [
    ...details.flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(11)}${printable(value)}`])),
    '',
    ...events.map(({ at, what }) => printable(`${timeOf(at)}  ${what}`)),
  ];
}

export const countOf = (count: number): string => `${count} ${count === 1 ? 'intent' : 'intents'}`;
