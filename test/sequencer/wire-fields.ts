/** One field of a serialized message: its number, its bytes with the tag, and its content if it is length-delimited. */
export interface WireField {
  readonly number: number;
  readonly raw: Uint8Array;
  readonly value: Uint8Array;
}

/** Parses a serialized message without the codec that wrote it. */
export function splitFields(message: Uint8Array): WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = message[at++];
      if (byte === undefined) throw new Error('The message ends in a varint.');
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  const lengthOf = (wireType: number): number => {
    if (wireType === 1) return 8;
    if (wireType === 2) return varint();
    if (wireType !== 0) throw new Error(`No message here has the wire type ${wireType}.`);
    varint();
    return 0;
  };
  while (at < message.length) {
    const start = at;
    const tag = varint();
    const length = lengthOf(tag & 7);
    const value = message.subarray(at, at + length);
    at += length;
    fields.push({ number: Math.floor(tag / 8), raw: message.subarray(start, at), value });
  }
  return fields;
}

/** The content of a nested field by its path of field numbers, or undefined. */
export function fieldAt(message: Uint8Array, ...path: number[]): Uint8Array | undefined {
  let value: Uint8Array | undefined = message;
  for (const number of path) {
    value = value && splitFields(value).find((field) => field.number === number)?.value;
  }
  return value;
}

/** The message without some of its fields. */
export function withoutFields(message: Uint8Array, ...numbers: number[]): Uint8Array {
  const kept = splitFields(message).filter(({ number }) => !numbers.includes(number));
  return new Uint8Array(Buffer.concat(kept.map(({ raw }) => raw)));
}
