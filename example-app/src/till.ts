import type { Request } from 'express';
import { currentUser, type IntentRouterOptions, refuse } from 'express-intents';
import { type Article, findArticle } from './articles.js';
import { placeOrder, takeOrderBack } from './orders.js';
import { visitorOf } from './visitor-session.js';

/** What this shop tells the intent router of its payments. */
export const payments = {
  // The browser names the article; what it costs is looked up here. All that the order is made of later is noted as
  // metadata: by then the browser may long be gone.
  payment: async (req: Request) => {
    const { slug, price } = requireArticle(req.body);
    const user = await currentUser(req);
    const metadata = { article: slug, visitor: visitorOf(req), userId: user?.id };
    return { amount: price, currency: 'usd', metadata };
  },
  onPaid: async (payment, { tx, attempt }) => {
    await placeOrder(payment, tx);
    // Something to watch: the order above is rolled back, and the hook is called again a second later.
    if (payment.metadata.article === slippery && attempt === 1) throw new Error('The cup has slipped. Taking another.');
  },
  onReversed: (payment, { tx }) => takeOrderBack(payment, tx),
} satisfies IntentRouterOptions;

const slippery = 'stoneware-cup';

/** Reads `{ order: { article } }`, which may be anything at all: a browser has sent it. */
function requireArticle(body: { readonly order?: unknown }): Article {
  const { order } = body;
  const asked = typeof order === 'object' && order !== null && 'article' in order ? order.article : undefined;
  const article = findArticle(asked);
  if (article) return article;
  return refuse('We do not sell that.', 404);
}
