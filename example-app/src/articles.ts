/** Something the tea house sells. */
export interface Article {
  readonly slug: string;
  readonly name: string;
  /** Decimal string in usd: money never passes through floating point here. */
  readonly price: string;
  readonly line: string;
}

/** What stands on the shelf. */
export const articles: readonly Article[] = [
  { slug: 'pot-of-assam', name: 'A pot of Assam', price: '4.50', line: 'Malty, strong, and in no hurry.' },
  { slug: 'ginger-biscuit', name: 'Ginger biscuit', price: '0.50', line: 'Baked at six, gone by four.' },
  { slug: 'teapot-for-two', name: 'Teapot for two', price: '30.00', line: 'Pours clean. Keeps its temper.' },
  {
    slug: 'stoneware-cup',
    name: 'Stoneware cup',
    price: '18.00',
    line: 'The hook drops the first one: see the console for the retry.',
  },
  { slug: 'sugar-cube', name: 'One sugar cube', price: '0.05', line: 'The smallest thing we sell.' },
];

const bySlug = new Map(articles.map((article) => [article.slug, article]));

/** Looks up what a browser asked for; anything that is not the name of an article is undefined. */
export function findArticle(slug: unknown): Article | undefined {
  return typeof slug === 'string' ? bySlug.get(slug) : undefined;
}

export const priceOf = ({ price }: Article): string => `$${price}`;
