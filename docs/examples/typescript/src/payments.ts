import { type IntentRouterOptions, refuse } from 'express-intents';
import { findArticle } from './articles.js';

/** The payment options of the router. */
export const payments = {
  payment: (req) => {
    const order: unknown = req.body.order;
    const article = findArticle(order) ?? refuse('We do not sell that.', 404);
    return { amount: article.price, currency: 'usd', metadata: { order } };
  },
  onPaid: async (payment, { tx }) => {
    const sql = 'insert into orders (id, article) values ($1, $2) on conflict (id) do nothing';
    await tx.query(sql, [payment.id, payment.metadata.order]);
  },
} satisfies IntentRouterOptions;
