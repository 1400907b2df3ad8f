import { type IntentRouterOptions, refuse } from 'express-intents';
import { findArticle } from './articles.js';

declare global {
  namespace ExpressIntents {
    /** What the site stores with each payment. */
    interface Metadata {
      order: string;
    }
  }
}

/** The payment options of the router. */
export const payments = {
  payment: (req) => {
    const order = orderIn(req.body);
    const article = findArticle(order) ?? refuse('We do not sell that.', 404);
    return { amount: article.price, currency: 'usd', metadata: { order } };
  },
  onPaid: async (payment, { tx }) => {
    const sql = 'insert into orders (id, article) values ($1, $2) on conflict (id) do nothing';
    await tx.query(sql, [payment.id, payment.metadata.order]);
  },
} satisfies IntentRouterOptions;

/** The order in a request. The browser sends the body, so it can be any value. */
function orderIn(body: unknown): string {
  const order = typeof body === 'object' && body !== null && 'order' in body ? body.order : undefined;
  return typeof order === 'string' ? order : refuse('An order is a text.', 400);
}
