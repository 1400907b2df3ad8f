import type Long from 'long';
import $protobuf from 'protobufjs/minimal.js';
import { IntentError } from '../errors.js';
import { intents } from './generated/intents.js';

/** The messages of `proto/intents.proto`: their codecs, and as types their shapes. */
export import v1 = intents.v1;

/** What the generated code offers for a message type. */
interface Codec<Decoded, Properties> {
  encode(message: Properties): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Decoded;
}

/** Serializes canonically: fields in ascending number, what is unset left out. */
export function encode<Properties>(codec: Codec<unknown, Properties>, message: Properties): Uint8Array {
  return codec.encode(message).finish();
}

/** Parses a message; unknown fields are dropped. @throws {IntentError} `malformed_message` */
export function decode<Decoded>(codec: Codec<Decoded, never>, bytes: Uint8Array): Decoded {
  try {
    return codec.decode(bytes);
  } catch (cause) {
    throw new IntentError('malformed_message', 'The bytes are not a message of this type.', { cause });
  }
}

/** As `decode`, and with the unknown fields, which encoding then writes as well. @throws {IntentError} `malformed_message` */
export function decodeWithUnknown<Decoded>(codec: Codec<Decoded, never>, bytes: Uint8Array): Decoded {
  const reader = $protobuf.Reader.create(bytes);
  reader.discardUnknown = false;
  // The generated code takes a reader as well.
  return decode(codec, reader as unknown as Uint8Array);
}

/** A bigint as a uint64 field takes it, no bit lost. */
export function toUint64(value: bigint): Long {
  const [low, high] = [Number(BigInt.asIntN(32, value)), Number(BigInt.asIntN(32, value >> 32n))];
  // The class that the codecs load; `import` would load another of the same name. Of its type protobufjs tells little.
  return new $protobuf.util.Long(low, high, true) as Long;
}

/** The value of a uint64 field, no bit lost. */
export function fromUint64(value: number | Long): bigint {
  return BigInt(value.toString());
}
