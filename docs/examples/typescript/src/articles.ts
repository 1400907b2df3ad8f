/** What the site sells. */
export interface Article {
  readonly title: string;
  /** Decimal, in usd. */
  readonly price: string;
}

const articles: ReadonlyMap<unknown, Article> = new Map([
  ['tea', { title: 'Smoked black tea', price: '4.50' }],
  ['cup', { title: 'A stoneware cup', price: '18.00' }],
]);

/** Looks up what a browser has asked for, which may be anything. */
export const findArticle = (order: unknown): Article | undefined => articles.get(order);
