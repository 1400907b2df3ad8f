/** An article of the shop. */
export interface Article {
  readonly slug: string;
  readonly name: string;
  /** Decimal string in usd, because floating point loses cents. */
  readonly price: string;
  readonly tagline: string;
}

export const articles: readonly Article[] = [
  { slug: 'pot-of-assam', name: 'A pot of Assam', price: '4.50', tagline: 'Malty, strong, and in no hurry.' },
  { slug: 'ginger-biscuit', name: 'Ginger biscuit', price: '0.50', tagline: 'Baked at six, gone by four.' },
  { slug: 'teapot-for-two', name: 'Teapot for two', price: '30.00', tagline: 'Pours clean. Keeps its temper.' },
  {
    slug: 'stoneware-cup',
    name: 'Stoneware cup',
    price: '18.00',
    tagline: 'The hook fails the first time: the console shows the retry.',
  },
  { slug: 'sugar-cube', name: 'One sugar cube', price: '0.05', tagline: 'The smallest thing we sell.' },
];

const bySlug = new Map(articles.map((article) => [article.slug, article]));

/** Looks up an untrusted value; undefined unless it is the slug of an article. */
export function findArticle(slug: unknown): Article | undefined {
  return typeof slug === 'string' ? bySlug.get(slug) : undefined;
}

export const priceOf = ({ price }: Article): string => `$${price}`;
