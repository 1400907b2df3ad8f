import { essay } from './essay.js';

/** Something the tea house sells. */
export interface Article {
  readonly slug: string;
  readonly name: string;
  /** Decimal string in usd: money never passes through floating point here. */
  readonly price: string;
  /** One line for the shelf. */
  readonly line: string;
  /** A few sentences for the article's own page. */
  readonly story: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** The colour the picture stands on; one of the tints in shop.css. */
  readonly tint: 'sage' | 'honey' | 'rose' | 'sky' | 'plum';
  /** The page that it opens to the browser that has paid, where it is something to read. */
  readonly opens?: string | undefined;
}

/** What stands on the shelf. */
export const articles: readonly Article[] = [
  {
    slug: 'pot-of-assam',
    name: 'A pot of Assam',
    price: '4.50',
    line: 'Malty, strong, and in no hurry.',
    story:
      'Second flush, whole leaf, four minutes and not one more. It comes to your table in the brown pot with the ' +
      'mended lid, and there are two good cups in it, or one long afternoon.',
    facts: [
      ['Grown in', 'Assam, India'],
      ['Steeps for', '4 minutes'],
      ['Goes with', 'milk, rain'],
    ],
    tint: 'sage',
  },
  {
    slug: 'ginger-biscuit',
    name: 'Ginger biscuit',
    price: '0.50',
    line: 'Baked at six, gone by four.',
    story:
      'Crisp at the edge, soft where it matters, and with enough ginger to be noticed. We bake forty every morning. ' +
      'If you read this after four o’clock, you are looking at a memory.',
    facts: [
      ['Baked', 'this morning'],
      ['Contains', 'wheat, butter, egg'],
      ['Survives', 'two dips'],
    ],
    tint: 'honey',
  },
  {
    slug: 'jasmine-pearls',
    name: 'Jasmine pearls, 50 g',
    price: '14.00',
    line: 'Green tea, rolled by hand, scented by night.',
    story:
      'Each pearl is two young leaves and a bud, rolled between finger and thumb and left among jasmine blossoms for ' +
      'six nights. Put eight in a glass and watch them open; that is half of what you pay for.',
    facts: [
      ['Grown in', 'Fujian, China'],
      ['Steeps for', '3 minutes, at 80 °C'],
      ['Makes', 'about 20 cups'],
    ],
    tint: 'sky',
  },
  {
    slug: 'smoked-black',
    name: 'Pine-smoked black, 100 g',
    price: '9.80',
    line: 'A campfire you can take to work.',
    story:
      'Dried over pine embers until it smells of wood, tar and wet coats. People love it or leave the room. Try a ' +
      'spoonful in with your usual black tea first: it makes friends slowly.',
    facts: [
      ['Grown in', 'the Wuyi hills, China'],
      ['Steeps for', '3 minutes'],
      ['Makes', 'about 40 cups'],
    ],
    tint: 'rose',
  },
  {
    slug: 'roof-honey',
    name: 'Honey from our roof',
    price: '7.20',
    line: 'Linden, clover, and a little chimney.',
    story:
      'Two hives stand above the kitchen, and the bees do as they please. This year they preferred the lindens by the ' +
      'station. Thick, pale, and a little different in every jar, because we do not blend it.',
    facts: [
      ['Jar', '250 g'],
      ['Gathered', 'June and July'],
      ['Staff', 'about 80,000'],
    ],
    tint: 'honey',
  },
  {
    slug: 'stoneware-cup',
    name: 'Stoneware cup',
    price: '18.00',
    line: 'No handle. Warm hands instead.',
    story:
      'Thrown by Marta in the yard behind us, dipped once in ash glaze and fired for a day and a night. No two run ' +
      'alike. When it is too hot to hold, the tea is too hot to drink: it is a cup that looks after you. We drop the ' +
      'first one that we wrap, every time, and take another.',
    facts: [
      ['Holds', '220 ml'],
      ['Made by', 'Marta, next door'],
      ['Slips', 'once, as the console tells'],
    ],
    tint: 'plum',
  },
  {
    slug: 'teapot-for-two',
    name: 'Teapot for two',
    price: '30.00',
    line: 'Pours clean. Keeps its temper.',
    story:
      'The pot we use ourselves: a wide belly for the leaves, a short spout that does not dribble, and a lid that stays ' +
      'on to the last cup. It leaves here wrapped in newspaper, with the crossword up.',
    facts: [
      ['Holds', '600 ml'],
      ['Made by', 'Marta, next door'],
      ['Patience', 'included'],
    ],
    tint: 'sage',
  },
  {
    slug: 'sugar-cube',
    name: 'One sugar cube',
    price: '0.05',
    line: 'The smallest thing we sell.',
    story:
      'Sometimes a cup lacks only this. We sell it by the piece because nobody should have to buy a kilo of anything to ' +
      'try something out, and a wallet is a fine thing to try out.',
    facts: [
      ['Weighs', '4 g'],
      ['Made of', 'beet sugar'],
      ['Returns', 'not once dissolved'],
    ],
    tint: 'rose',
  },
];

const bySlug = new Map<string, Article>([...articles, essay].map((article) => [article.slug, article]));

/** Looks up what a browser asked for; anything that is not the name of an article is undefined. */
export function findArticle(slug: unknown): Article | undefined {
  return typeof slug === 'string' ? bySlug.get(slug) : undefined;
}

export const priceOf = ({ price }: Article): string => `$${price}`;
