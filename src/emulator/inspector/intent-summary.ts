import { formatAmount } from '../../intents/money.js';
import type { IntentRequest } from '../../intents/verify-intent.js';
import type { IntentRecord } from '../state/intent-store.js';

/** What an intent asks for, for a list. */
export function summarizeRequest(request: IntentRequest): Record<string, string> {
  if (request.kind === 'login') return { kind: 'login', domain: request.login.domain };
  const { money, login } = request;
  const payment = { kind: 'payment', amount: formatAmount(money), currency: money.currency };
  return login ? { ...payment, domain: login.domain } : payment;
}

/** How far an intent has come. */
export function stateOf({ submitted, reversed, rejected, codeScanned }: IntentRecord): string {
  if (submitted) return 'submitted';
  if (reversed) return 'reversed';
  return rejected ? 'rejected' : codeScanned ? 'scanned' : 'created';
}
