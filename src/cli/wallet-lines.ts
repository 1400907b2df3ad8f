import type { WalletRequest } from '../emulator/read-code.js';
import type { IntentStatus } from '../sequencer/calls.js';
import type { SeenCode } from './look-at-code.js';
import { printable } from './printable.js';

/** What a person does with a wallet, besides looking. */
export type WalletAct = 'pay' | 'login' | 'reject';

const amountOf = ({ amount, currency }: WalletRequest): string => `${amount} ${currency}`;

function stateOf({ codeScanned, intentSubmitted }: IntentStatus): string {
  if (intentSubmitted) return 'submitted';
  return codeScanned ? 'scanned, and not yet confirmed' : 'waits for a wallet';
}

/** What a code asks for, with whose signatures were verified. */
export function linesOfRequest(request: SeenCode): string[] {
  const { id, kind, destination, login, status } = request;
  const details: readonly (readonly [name: string, value: string | undefined])[] = [
    ['asks for', kind === 'payment' ? `a payment of ${amountOf(request)}` : 'a login'],
    ['to', destination],
    ['login at', login?.domain],
    ['verifier', login?.verifier],
    ['signed by', login ? 'its rendezvous key and the verifier, both verified' : 'its rendezvous key, verified'],
    ['intent', id],
    ['status', stateOf(status)],
  ];
  return details.flatMap(([name, value]) => (value === undefined ? [] : [`${name.padEnd(11)}${printable(value)}`]));
}

/** What a wallet has done, and as whom. */
export function sayDone(act: WalletAct, name: string, request: WalletRequest & { readonly userId?: string }): string[] {
  const { kind, login, userId } = request;
  const said = {
    pay: `has paid ${amountOf(request)}`,
    login: `has logged in at ${login?.domain}`,
    reject:
      kind === 'payment' ? `has declined to pay ${amountOf(request)}` : `has declined to log in at ${login?.domain}`,
  };
  const asWhom = userId === undefined ? [] : [`user       ${userId}`];
  return [printable(`${name} ${said[act]}.`), `intent     ${request.id}`, ...asWhom];
}
