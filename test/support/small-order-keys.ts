/**
 * Every encoding of the eight points of small order of edwards25519, in hex without the sign bit: y = 0, 1, -1, the two y of order 8,
 * and y = 0 and y = 1 plus the field prime. RFC 8032 (section 5.1.3) rejects the last two forms, but most libraries do not.
 */
const encodings = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
];

export const smallOrderKeys: readonly Uint8Array[] = encodings.flatMap((hex) => {
  const positive = Uint8Array.from(Buffer.from(hex, 'hex'));
  const negative = Uint8Array.from(positive);
  negative[31] = (negative[31] ?? 0) | 0x80;
  return [positive, negative];
});

/** The neutral point. */
const neutral = Uint8Array.of(1, ...new Uint8Array(31));

/** R is the neutral point and S is zero: no private key is involved. Valid for each message that hashes to a multiple of the key's order. */
export const forgedSignature = Uint8Array.of(...neutral, ...new Uint8Array(32));

/** "Signs" with the neutral point, for which the forged signature is valid for every message. */
export const forger = { publicKey: neutral, sign: (): Uint8Array => forgedSignature };
