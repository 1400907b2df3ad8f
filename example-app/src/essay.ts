import type { Article } from './articles.js';

/** The one thing on the shelf that is handed over by opening a page. */
export const essay = {
  slug: 'the-fourth-minute',
  name: 'The fourth minute',
  price: '0.50',
  line: 'A short essay on waiting, to be read while it steeps.',
  story:
    'Every packet of tea says three to four minutes, as if the difference were nothing. We have stood beside a great many ' +
    'pots, and we think that nearly everything happens in between.',
  facts: [
    ['Reads in', '3 to 4 minutes'],
    ['Goes with', 'a pot, not a mug'],
    ['Stays open', 'in this browser'],
  ],
  tint: 'plum',
  opens: '/essays/the-fourth-minute',
} as const satisfies Article;

export const paragraphs: readonly string[] = [
  'Nothing seems to happen in the first minute, which is why it is the minute in which people leave. They remember a letter, ' +
    'a window, a person upstairs. The water takes on the colour of straw and keeps its secret.',
  'The second minute is all promise. The leaves have understood that this is not rain and will not pass. They let go of ' +
    'what they hold most lightly: the flowers, the grass, the bit of smoke that somebody gave them in a shed a long way ' +
    'from here. Whoever pours now gets a clever tea. It is very charming and has nothing to say after supper.',
  'In the third minute comes the body. The tannins arrive, late and in heavy coats, and stand about in the hall. This is ' +
    'the tea of stations and offices, strong enough to be held with both hands. Most of the tea in the world is drunk at ' +
    'three minutes, by people who have somewhere to be. There is no shame in it.',
  'And then there is the fourth. Nothing is added in the fourth minute that was not there before. But the sharp and the ' +
    'sweet, which have come separately and have not yet been introduced, find out that they know the same people. The ' +
    'edges go. You can smell it change if you stand close: from green to brown, from a question to a reply.',
  'There is a fifth minute too. We do not speak of it. A tea that has been left for five is not stronger, it is only ' +
    'louder, and it goes on about the war.',
  'So we wait. Not because patience is a virtue, since we are no better at virtue than the next house, but because the ' +
    'fourth minute cannot be bought ahead, or skipped, or made up for later with sugar. You can pay for the pot in four ' +
    'seconds; we have seen to that. The other two hundred and thirty-six are yours. Look out of the window. Somebody is ' +
    'walking a dog that has seen a bird. There: it is ready.',
];
