import type { Request } from 'express';
import { currentUser, type IntentRouterOptions, refuse } from 'express-intents';
import { type Article, findArticle } from './articles.js';
import type { OrderBook } from './order-book.js';
import { visitorOf } from './visitor-cookie.js';

/** What this shop tells the intent router of its payments. */
export function paymentsOf(orders: OrderBook): Required<Pick<IntentRouterOptions, 'payment' | 'onCreated'>> {
  return {
    // The browser names the article; what it costs is looked up here.
    payment: (req: Request) => {
      const { slug, price } = requireArticle(req.body);
      return { amount: price, currency: 'usd', metadata: { article: slug } };
    },
    onCreated: async (intent, req) => {
      if (intent.kind !== 'payment') return;
      const article = findArticle(intent.metadata.article);
      if (!article) throw new Error('The order lost its article.');
      const user = await currentUser(req);
      orders.add({ id: intent.id, article, placedAt: new Date(), visitor: visitorOf(req), userId: user?.id });
    },
  };
}

/** Reads `{ order: { article } }`, which may be anything at all: a browser has sent it. */
function requireArticle(body: { readonly order?: unknown }): Article {
  const { order } = body;
  const asked = typeof order === 'object' && order !== null && 'article' in order ? order.article : undefined;
  const article = findArticle(asked);
  if (article) return article;
  return refuse('We do not sell that.', 404);
}
