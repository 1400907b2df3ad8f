import type { IntentClient } from 'express-intents';

/** What can honestly be said of an order; `unknown` when the payment service does not answer. */
export type PaymentState = 'paid' | 'pending' | 'unknown';

/** Asks the payment service, every time: what a browser says about a payment is worth nothing. */
export async function paymentStateOf(id: string, client: IntentClient): Promise<PaymentState> {
  try {
    const { intentSubmitted } = await client.paymentIntents.getStatus(id);
    return intentSubmitted ? 'paid' : 'pending';
  } catch (error) {
    console.error(`The status of order ${id} cannot be read:`, error instanceof Error ? error.message : error);
    return 'unknown';
  }
}
