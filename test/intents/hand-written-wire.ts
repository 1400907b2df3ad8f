// Protobuf encoded by hand: the expected bytes do not come from the code under test.

/** A length-delimited field: bytes, a string or a message. */
export function field(number: number, content: Uint8Array | string): Uint8Array {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return Uint8Array.of(...varint(BigInt(number * 8 + 2)), ...varint(BigInt(bytes.length)), ...bytes);
}

/** A field of 8 bytes, little-endian. */
export function doubleField(number: number, value: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Uint8Array.of(...varint(BigInt(number * 8 + 1)), ...bytes);
}

export function varintField(number: number, value: bigint): Uint8Array {
  return Uint8Array.of(...varint(BigInt(number * 8)), ...varint(value));
}

export function join(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

function varint(value: bigint): number[] {
  return value < 128n ? [Number(value)] : [Number(value & 127n) | 128, ...varint(value >> 7n)];
}
