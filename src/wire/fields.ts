import $protobuf from 'protobufjs/minimal.js';

interface WireField {
  readonly number: number;
  readonly wireType: number;
  readonly bytes: Uint8Array;
  /** The value, without tag and length. */
  readonly content: Uint8Array;
}

const lengthDelimited = 2;

/** The fields of a serialized message, in order. @throws {Error} for bytes that are not a message */
function* fieldsOf(bytes: Uint8Array): Generator<WireField> {
  const reader = $protobuf.Reader.create(bytes);
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const tag = reader.uint32();
    const [number, wireType] = [tag >>> 3, tag & 7];
    let contentStart = reader.pos;
    if (wireType === lengthDelimited) {
      const length = reader.uint32();
      contentStart = reader.pos;
      reader.skip(length);
    } else {
      reader.skipType(wireType, 0, number);
    }
    const { pos } = reader;
    yield { number, wireType, bytes: bytes.subarray(start, pos), content: bytes.subarray(contentStart, pos) };
  }
}

/** Removes fields from a serialized message. All other bytes stay as sent (protocol section 4). */
export function withoutFields(bytes: Uint8Array, ...numbers: readonly number[]): Uint8Array {
  const kept = [...fieldsOf(bytes)].filter(({ number }) => !numbers.includes(number));
  return new Uint8Array(Buffer.concat(kept.map((field) => field.bytes)));
}

/** The inner messages in a field of a serialized message, in order. */
export function messagesIn(bytes: Uint8Array, number: number): Uint8Array[] {
  const found = [...fieldsOf(bytes)].filter((field) => field.number === number && field.wireType === lengthDelimited);
  return found.map(({ content }) => content);
}

/**
 * Whether a serialized message differs from its canonical form only by explicit proto3 default values. Some encoders write
 * them (protocol section 4). No encoder writes other variants of the same fields.
 * @param canonical the same message without default values
 */
export function differsByDefaultsOnly(sent: Uint8Array, canonical: Uint8Array): boolean {
  try {
    return equalsWithDefaults(sent, canonical);
  } catch {
    // The difference is in a string or bytes field, not in an inner message.
    return false;
  }
}

function equalsWithDefaults(sent: Uint8Array, canonical: Uint8Array): boolean {
  const rest = [...fieldsOf(canonical)];
  let lastNumber = 0;
  for (const field of fieldsOf(sent)) {
    if (field.number <= lastNumber || !hasShortHead(field)) return false;
    lastNumber = field.number;
    const [next] = rest;
    if (next?.number !== field.number) {
      if (!isDefault(field)) return false;
      continue;
    }
    if (!isSame(field.bytes, next.bytes) && !isMessageWithDefaults(field, next)) return false;
    rest.shift();
  }
  return rest.length === 0;
}

/** String and bytes fields must be equal. Only inner messages can differ. */
function isMessageWithDefaults(sent: WireField, canonical: WireField): boolean {
  const isMessage = sent.wireType === lengthDelimited && canonical.wireType === lengthDelimited;
  return isMessage && equalsWithDefaults(sent.content, canonical.content);
}

/** For numbers, strings and bytes. An empty inner message is never tested here: decoding keeps it, so `canonical` has it too. */
const isDefault = ({ wireType, content }: WireField): boolean =>
  wireType === lengthDelimited ? content.length === 0 : content.every((byte) => byte === 0);

/** Whether tag and length have their shortest form. */
function hasShortHead({ number, wireType, bytes, content }: WireField): boolean {
  const lengthOfLength = wireType === lengthDelimited ? varintLength(content.length) : 0;
  return bytes.length - content.length === varintLength(number * 8) + lengthOfLength;
}

const varintLength = (value: number): number => (value < 128 ? 1 : 1 + varintLength(Math.floor(value / 128)));
const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;
