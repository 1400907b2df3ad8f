import { randomBytes } from '../keys/random-bytes.js';
import { type Signer, signChecked } from '../keys/verifier-key.js';
import { encode, v1 } from '../wire/codec.js';
import { withoutFields } from '../wire/signed-bytes.js';
import { encodePayload, formatClientSecret, nonceLength, type Payload } from './payload.js';
import { intentIdOf, rendezvousKeyPair } from './rendezvous.js';

/** An intent that is ready to be sent to the sequencer. */
export interface SignedIntent {
  /** Base58 of 32 bytes, public. */
  readonly id: string;
  /** Base58 of 20 bytes: whoever has it owns the intent. It leaves the server only after the sequencer said OK. */
  readonly clientSecret: string;
  /** The rendezvous public key, 32 bytes. */
  readonly rendezvousKey: Uint8Array;
  /** The message without id and signature: what the signature covers. */
  readonly message: v1.Message.$Properties;
  /** Its serialization. */
  readonly signedBytes: Uint8Array;
  /** By the rendezvous key, 64 bytes. */
  readonly signature: Uint8Array;
}

/** Where the verifier key is published, and who signs with it (interface section 5.3). */
export interface LoginTerms {
  /** Bare registrable name, such as `example.com`. */
  readonly domain: string;
  readonly verifier: Signer;
}

/** The bytes a `signature` inside a message covers: the message's serialization with that field unset. */
export function unsignedBytes<Properties extends { signature?: v1.Signature.$Properties | null }>(
  codec: Parameters<typeof encode<Properties>>[0],
  message: Properties,
): Uint8Array {
  return encode(codec, { ...message, signature: null });
}

/** The bytes that the signature of a message covers (protocol section 4): its serialization without fields 1 and 3. */
export function signedBytesOf(message: v1.Message.$Properties): Uint8Array {
  return encode(v1.Message, { ...message, id: null, sendMessageRequestSignature: null });
}

/** The same of a message as it was sent: with the defaults that its encoder has written out. */
export function signedBytesIn(message: Uint8Array): Uint8Array {
  return withoutFields(message, 1, 3);
}

/** Signs an inner message with the verifier key and puts the signature in (interface section 2.5). */
export async function withVerifierSignature<Properties extends { signature?: v1.Signature.$Properties | null }>(
  codec: Parameters<typeof encode<Properties>>[0],
  message: Properties,
  verifier: Signer,
): Promise<Properties> {
  return { ...message, signature: { value: await signChecked(verifier, unsignedBytes(codec, message)) } };
}

/** Draws a nonce, makes the rendezvous of the payload, lets `build` name it in the message, and signs (section 5.2). */
export async function signIntent(
  payload: Payload,
  build: (rendezvousKey: Uint8Array) => v1.Message.$Properties | Promise<v1.Message.$Properties>,
): Promise<SignedIntent> {
  const bytes = encodePayload(payload);
  const rendezvous = rendezvousKeyPair(bytes);
  const message = await build(rendezvous.publicKey);
  const signedBytes = encode(v1.Message, message);
  return {
    id: intentIdOf(rendezvous),
    clientSecret: formatClientSecret(bytes),
    rendezvousKey: rendezvous.publicKey,
    message,
    signedBytes,
    signature: rendezvous.sign(signedBytes),
  };
}

/** 11 bytes that nobody can guess, never made from an order number or the time. */
export function newNonce(): Uint8Array {
  return randomBytes(nonceLength);
}
