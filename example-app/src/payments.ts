import { currentUser, type IntentRouterOptions, refuse } from 'express-intents';
import { type Article, findArticle } from './articles.js';
import { placeOrder, reverseOrder } from './orders.js';
import { visitorOf } from './visitor-session.js';

/** The shop's hooks for the intent router. */
export const payments = {
  // The browser names the article, the server sets the price. `onPaid` reads the order from the metadata, because the browser
  // may have disconnected by then.
  payment: async (req) => {
    const { slug, price, name } = requireArticle(req.body);
    const user = await currentUser(req);
    const metadata = { article: slug, visitor: visitorOf(req), userId: user?.id ?? null };
    return { amount: price, currency: 'usd', description: name, metadata };
  },
  onPaid: async (payment, { tx, attempt }) => {
    await placeOrder(payment, tx);
    // Demonstrates a retry: the order above is rolled back, and the hook is called again a second later.
    if (payment.metadata.article === failsOnce && attempt === 1) throw new Error('Simulated failure. It is retried.');
  },
  onReversed: (payment, { tx }) => reverseOrder(payment, tx),
} satisfies IntentRouterOptions;

const failsOnce = 'stoneware-cup';

/** Reads `{ order: { article } }` from an untrusted body. */
function requireArticle(body: unknown): Article {
  const order = typeof body === 'object' && body !== null && 'order' in body ? body.order : undefined;
  const slug = typeof order === 'object' && order !== null && 'article' in order ? order.article : undefined;
  const article = findArticle(slug);
  if (article) return article;
  return refuse('We do not sell that.', 404);
}
