// Hostile inputs: random ones, and examples that are truncated, changed and extended. A seed gives the same inputs on every
// machine.

/** mulberry32 */
export function seededRandom(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit) => Math.floor(next() * limit);
  return {
    below,
    bytes: (length) => Uint8Array.from({ length }, () => below(256)),
    pick: (items) => items[below(items.length)],
  };
}

const cut = (random, example) => example.subarray(0, random.below(example.length + 1));

function flip(random, example) {
  const bytes = Uint8Array.from(example);
  for (let times = 1 + random.below(3); times > 0 && bytes.length > 0; times--) {
    bytes[random.below(bytes.length)] ^= 1 << random.below(8);
  }
  return bytes;
}

/** A length or number that is too large. */
const boast = (random, example) =>
  Buffer.concat([Uint8Array.of(random.below(128), 0xff, 0xff, 0xff, 0xff, random.below(16)), example]);

const mutations = [
  (random) => random.bytes(random.below(80)),
  (random) => new Uint8Array(random.below(2_000)).fill(random.pick([0x0a, 0x0b, 0x0c, 0x00, 0x7b, 0xff, 0x31])),
  cut,
  flip,
  (random, example) => flip(random, cut(random, example)),
  (random, example) => Buffer.concat([example, random.bytes(1 + random.below(12))]),
  (random, example) => Buffer.concat([cut(random, example), random.bytes(6), example]),
  boast,
  (_random, example) => Buffer.concat([example, example]),
  (_random, example) => example,
];

/** @returns {Uint8Array} */
export function hostileInput(random, examples) {
  return random.pick(mutations)(random, random.pick(examples));
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const odd = ['0', 'O', 'I', 'l', ' ', '\n', '\0', '.', '-', '_', '=', 'é', '\ud83d', '１', '%00', '../', '{', '"', '1'];

const textMutations = [
  (random) => Buffer.from(random.bytes(random.below(60))).toString('latin1'),
  (random) => Array.from({ length: random.below(60) }, () => alphabet[random.below(58)]).join(''),
  (random) => random.pick(odd).repeat(random.below(4_000)),
  (random, text) => text.slice(0, random.below(text.length + 1)),
  (random, text) => {
    const at = random.below(text.length + 1);
    return text.slice(0, at) + random.pick(odd) + text.slice(at + random.below(2));
  },
  (random, text) => {
    const at = random.below(text.length + 1);
    return text.slice(0, at) + alphabet[random.below(58)] + text.slice(at + 1);
  },
  (_random, text) => text + text,
  (_random, text) => text,
];

/** @returns {string} */
export function hostileText(random, examples) {
  return random.pick(textMutations)(random, random.pick(examples));
}
