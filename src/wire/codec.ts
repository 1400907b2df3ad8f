import type Long from 'long';
import $protobuf from 'protobufjs/minimal.js';
import { IntentError } from '../errors.js';
import { intents } from './generated/intents.js';

/** The messages of `proto/intents.proto`: their codecs, and as types their shapes. */
export import v1 = intents.v1;

/** The generated code of a message type. */
interface Codec<Decoded, Properties> {
  encode(message: Properties): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Decoded;
}

/** Serializes canonically: fields in ascending order, unset fields left out. */
export function encode<Properties>(codec: Codec<unknown, Properties>, message: Properties): Uint8Array {
  return codec.encode(message).finish();
}

/** Parses a message. Unknown fields are dropped. @throws {IntentError} `malformed_message` */
export function decode<Decoded>(codec: Codec<Decoded, never>, bytes: Uint8Array): Decoded {
  try {
    return codec.decode(bytes);
  } catch (cause) {
    throw new IntentError('malformed_message', 'The bytes are not a message of this type.', { cause });
  }
}

/** As `decode`, but keeps unknown fields, which encoding then writes. @throws {IntentError} `malformed_message` */
export function decodeWithUnknown<Decoded>(codec: Codec<Decoded, never>, bytes: Uint8Array): Decoded {
  const reader = $protobuf.Reader.create(bytes);
  reader.discardUnknown = false;
  // The generated code also accepts a reader.
  return decode(codec, reader as unknown as Uint8Array);
}

/** A bigint for a uint64 field, without losing a bit. */
export function toUint64(value: bigint): Long {
  const [low, high] = [Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n))];
  // The class that the codecs use. `import` would load a second class of the same name.
  return new $protobuf.util.Long(low, high, true) as Long;
}

/** The value of a uint64 field, without losing a bit. */
export function fromUint64(value: number | Long): bigint {
  return BigInt(value.toString());
}
