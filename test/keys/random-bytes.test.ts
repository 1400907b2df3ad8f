import { randomBytes } from '../../src/keys/random-bytes.js';

test('randomBytes returns the requested number of unique bytes, also across the end of its buffer', () => {
  const lengths = [11, 32, 4_096, 1, 4_090, 11];
  const seen = new Set<string>();
  for (let round = 0; round < 2_000; round += 1) {
    const length = lengths[round % lengths.length] ?? 0;
    const bytes = randomBytes(length);
    expect(bytes).toHaveLength(length);
    for (let at = 0; at + 8 <= length; at += 8) {
      const eight = Buffer.from(bytes.subarray(at, at + 8)).toString('hex');
      if (seen.has(eight)) throw new Error(`${eight} came twice.`);
      seen.add(eight);
    }
  }
});
