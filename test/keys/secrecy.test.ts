import { inspect } from 'node:util';
import { serialize } from 'node:v8';
import bs58 from 'bs58';
import { keyPairFromSeed } from '../../src/keys/ed25519.js';
import { createKeyRing } from '../../src/keys/key-ring.js';
import { createSigner, signerFromSeed } from '../../src/keys/verifier-key.js';
import { nacl } from './unsandboxed-nacl.js';

const seed = Uint8Array.from({ length: 32 }, (_, i) => (i * 37 + 11) % 256);
const { secretKey } = nacl.sign.keyPair.fromSeed(seed);

/** The seed in its usual renderings; long ones are found by their first bytes. */
const traces = [
  Buffer.from(seed).toString('hex').slice(0, 16),
  (Buffer.from(seed).toString('hex').match(/../g) ?? []).slice(0, 8).join(' '),
  Buffer.from(seed).toString('base64').slice(0, 12),
  Buffer.from(seed).toString('base64url').slice(0, 12),
  bs58.encode(seed).slice(0, 12),
  bs58.encode(secretKey).slice(0, 12),
  [...seed].slice(0, 6).join(','),
  Buffer.from(seed).toString('latin1').slice(0, 8),
];

/** Every way an object is rendered for a log, a response or another process. */
const renderings: [string, (value: object) => unknown][] = [
  [
    'util.inspect',
    (value) => inspect(value, { depth: Infinity, showHidden: true, maxArrayLength: null, getters: true }),
  ],
  ['util.inspect in a wrapper', (value) => inspect({ config: [value] }, { depth: Infinity, showHidden: true })],
  ['JSON.stringify', (value) => JSON.stringify(value)],
  ['String()', (value) => String(value)],
  ['its own keys', (value) => JSON.stringify(ownValues(value))],
  ['its prototypes', (value) => inspect(prototypesOf(value), { depth: Infinity, showHidden: true })],
  ['a spread copy', (value) => inspect({ ...value }, { depth: Infinity, showHidden: true })],
  ['structuredClone', (value) => inspect(cloned(value, structuredClone), { depth: Infinity, showHidden: true })],
  ['v8.serialize', (value) => String(cloned(value, (each) => serialize(each).toString('latin1')))],
];

const ownValues = (value: object): unknown[] =>
  Reflect.ownKeys(value).map((key) => [String(key), Object.getOwnPropertyDescriptor(value, key)?.value]);

const prototypesOf = (value: object): object[] => {
  const prototype = Object.getPrototypeOf(value);
  return prototype && prototype !== Object.prototype ? [prototype, ...prototypesOf(prototype)] : [];
};

/** The clone of a value, or undefined if it cannot be cloned. */
function cloned(value: object, clone: (value: object) => unknown): unknown {
  try {
    return clone(value);
  } catch (error) {
    return error;
  }
}

const normal = (text: unknown): string => String(text).replaceAll(/\s*,\s*/g, ',');

function tracesIn(value: object): string[] {
  return renderings.flatMap(([name, render]) => {
    const rendered = normal(render(value));
    return traces.some((trace) => rendered.includes(trace)) ? [name] : [];
  });
}

const errorOf = (action: () => unknown): Error => {
  try {
    action();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
};

describe('a secret is never visible (interface 5)', () => {
  const external = { publicKey: bs58.encode(nacl.sign.keyPair().publicKey), sign: () => new Uint8Array(64) };

  test.each<[string, () => object]>([
    ['a signer of a text', () => createSigner(bs58.encode(seed))],
    ['a signer of a seed', () => signerFromSeed(seed)],
    ['a key ring', () => createKeyRing(bs58.encode(seed))],
    ['a key ring with a signer of its own', () => createKeyRing(bs58.encode(secretKey), external)],
    ['a key pair', () => keyPairFromSeed(seed)],
    [
      'the refusal of a secret',
      () => errorOf(() => createSigner(`${bs58.encode(seed)},${bs58.encode(seed).slice(3)}`)),
    ],
  ])('in %s', (_, make) => {
    expect(tracesIn(make())).toEqual([]);
  });

  test.each<[string, object]>([
    ['bytes', { seed }],
    ['hex', { seed: Buffer.from(seed).toString('hex') }],
    ['Base58 of the whole key', { key: bs58.encode(secretKey) }],
    ['bytes under a symbol', { [Symbol('seed')]: [...seed] }],
    ['bytes of a getter', Object.defineProperty({}, 'seed', { get: () => seed, enumerable: true })],
  ])('which the check proves by finding it as %s', (_, leaky) => {
    expect(tracesIn(leaky)).not.toEqual([]);
  });
});
