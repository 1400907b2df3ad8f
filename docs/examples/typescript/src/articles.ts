/** An item of the site. */
export interface Article {
  readonly title: string;
  /** Decimal, in usd. */
  readonly price: string;
}

const articles: ReadonlyMap<string, Article> = new Map([
  ['tea', { title: 'Smoked black tea', price: '4.50' }],
  ['cup', { title: 'A stoneware cup', price: '18.00' }],
]);

/** Finds the article of an order. */
export const findArticle = (order: string): Article | undefined => articles.get(order);
