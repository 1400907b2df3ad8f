import type Long from 'long';
import $protobuf from 'protobufjs/minimal.js';
import { IntentError } from '../errors.js';
import { intents } from './generated/intents.js';

/** The messages of `proto/intents.proto`: codecs, and their shapes as types. */
export import v1 = intents.v1;

/** The generated codec of a message. `Properties` is what it encodes. */
export interface Codec<Decoded, Properties> {
  encode(message: Properties): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Decoded;
}

/** Serializes in canonical form: fields in ascending order, without unset fields. */
export function encode<Properties>(codec: Codec<unknown, Properties>, message: Properties): Uint8Array {
  return codec.encode(message).finish();
}

/** Parses a message. Unknown fields are dropped. @throws {IntentError} `malformed_message` */
export function decode<Decoded>(codec: Codec<Decoded, never>, bytes: Uint8Array): Decoded {
  try {
    return codec.decode(bytes);
  } catch (cause) {
    throw new IntentError('malformed_message', 'The bytes cannot be decoded as a message of this type.', { cause });
  }
}

/** Like `decode`, but keeps unknown fields for encoding. @throws {IntentError} `malformed_message` */
export function decodeWithUnknown<Decoded>(codec: Codec<Decoded, never>, bytes: Uint8Array): Decoded {
  const reader = $protobuf.Reader.create(bytes);
  reader.discardUnknown = false;
  // The generated code also accepts a reader.
  return decode(codec, reader as unknown as Uint8Array);
}

/** Converts a bigint to a uint64 field without loss. */
export function toUint64(value: bigint): Long {
  const [low, high] = [Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n))];
  // The class of the codecs. `import` would load a second copy of it.
  return new $protobuf.util.Long(low, high, true) as Long;
}

/** Converts a uint64 field to a bigint without loss. */
export function fromUint64(value: number | Long): bigint {
  return BigInt(value.toString());
}
