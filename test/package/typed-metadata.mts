// Compiled by types.full.test.ts against the package: a site that declares its metadata once.
import { type IntentRouterOptions, intentRouter, type Payment, type requirePayment } from 'express-intents';

declare global {
  namespace ExpressIntents {
    interface Metadata {
      order: string;
    }
  }
}

export const hooks: IntentRouterOptions = {
  payment: () => ({ amount: '4.50', currency: 'usd', metadata: { order: 'tea' } }),
  onPaid: ({ metadata }) => void (metadata.order satisfies string),
};
// @ts-expect-error The metadata of this site has an order.
intentRouter({ payment: () => ({ amount: '4.50', currency: 'usd', metadata: { oder: 'tea' } }), ...hooks });
export const orderOf = ({ metadata }: Payment): string => metadata.order;
export const guard: ReturnType<typeof requirePayment> = (req, res) => void res.send(req.intent.payment.metadata.order);
