import { IntentError } from '../../src/errors.js';
import { decodeCanonical } from '../../src/intents/verify-intent.js';
import { decode } from '../../src/wire/codec.js';
import { openResponse } from '../../src/wire/envelope.js';
import { type AnyCodec, codecs, filledExamples, reflect } from './reflection.js';
import { type SeededRandom, seededRandom } from './seeded-random.js';

const inputsPerDecoder = 10_000;

type Decoder = (bytes: Uint8Array) => unknown;

const root = reflect({ keepCase: false });
const examples = [...codecs].flatMap(([name, codec]) =>
  filledExamples(root.lookupType(name)).map((example) => codec.encode(example).finish()),
);

const decoders: [string, Decoder][] = [
  ...[...codecs].map(([name, codec]): [string, Decoder] => [name, (bytes) => decode(codec, bytes)]),
  ['openResponse', openResponse],
  ['decodeCanonical', (bytes) => decodeCanonical(codecs.get('intents.v1.Message') as AnyCodec, bytes)],
];

// Random bytes, and examples of all messages truncated, with flipped bits, or with inserted noise.
const inputs = hostileInputs(seededRandom(20_26), inputsPerDecoder);

function hostileInputs(random: SeededRandom, count: number): Uint8Array[] {
  const mutations: ((example: Uint8Array) => Uint8Array)[] = [
    () => random.bytes(random.below(80)),
    (example) => example.subarray(0, random.below(example.length + 1)),
    (example) => flipBits(Uint8Array.from(example), 1 + random.below(3)),
    (example) => Buffer.concat([example, random.bytes(1 + random.below(12))]),
    (example) => Buffer.concat([example.subarray(0, random.below(example.length + 1)), random.bytes(6), example]),
    (example) => Buffer.concat([Uint8Array.of(random.below(128), 0xff, 0xff, 0xff, 0xff, random.below(16)), example]),
    () => new Uint8Array(random.below(200)).fill(random.pick([0x0b, 0x0c, 0x0a, 0xff, 0x00, 0x7b])),
  ];
  const flipBits = (bytes: Uint8Array, times: number): Uint8Array => {
    for (let i = 0; i < times && bytes.length > 0; i++) {
      const at = random.below(bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
    }
    return bytes;
  };
  return Array.from({ length: count }, () => random.pick(mutations)(random.pick(examples)));
}

describe('decoding hostile input throws only an IntentError (interface 7)', () => {
  const { stackTraceLimit } = Error;
  beforeAll(() => {
    Error.stackTraceLimit = 0;
  });
  afterAll(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });

  test.each(decoders)(`in %s, with ${inputsPerDecoder} inputs`, (_, decoder) => {
    const codes = new Set<string>();
    let decoded = 0;
    for (const input of inputs) {
      try {
        decoder(input);
        decoded++;
      } catch (error) {
        if (!(error instanceof IntentError)) throw new Error(Buffer.from(input).toString('hex'), { cause: error });
        codes.add(error.code);
      }
    }
    // Both outcomes must occur, or the inputs prove nothing.
    expect(decoded).toBeGreaterThan(100);
    expect(decoded).toBeLessThan(inputsPerDecoder - 1_000);
    for (const code of codes)
      expect(['malformed_message', 'sequencer_bad_response', 'sequencer_error']).toContain(code);
  });

  test('and does not change the inputs, which are the same in every run', () => {
    const again = hostileInputs(seededRandom(20_26), inputsPerDecoder);
    expect(Buffer.compare(Buffer.concat(inputs), Buffer.concat(again))).toBe(0);
  });

  test.each([undefined, null, 5, 'text', {}])('and a value that is not bytes is malformed_message: %p', (input) => {
    for (const codec of codecs.values()) {
      expect(() => decode(codec, input as unknown as Uint8Array)).toThrow(
        expect.objectContaining({ code: 'malformed_message' }),
      );
    }
  });

  test('and groups nested ten thousand deep do not overflow the stack', () => {
    for (const codec of codecs.values()) {
      expect(() => decode(codec, new Uint8Array(10_000).fill(0x7b))).toThrow(
        expect.objectContaining({ code: 'malformed_message' }),
      );
    }
  });
});
