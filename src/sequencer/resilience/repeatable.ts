import { nameOf, type Operation, operations } from '../../wire/envelope.js';

/**
 * What may be sent twice: what only asks, and what says so of itself (protocol section 6, "sending the same request again
 * is fine and changes nothing"). Repeated are the very bytes, signature and all.
 */
const repeatable: ReadonlySet<string> = new Set(
  [
    operations.createIntent,
    operations.sendMessage,
    operations.getStatus,
    operations.getLoginForThirdPartyApp,
    operations.registerWebhook,
    operations.pollMessages,
    operations.ackMessages,
  ].map(nameOf),
);

/** Whether a call whose answer was lost may be sent again. */
export function isRepeatable(operation: Operation): boolean {
  return repeatable.has(nameOf(operation));
}
