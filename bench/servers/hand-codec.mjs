// The bytes of the protocol, laid out by hand: what the limit sends. Layouts as in proto/intents.proto.
import { createPrivateKey, hash, randomFillSync, sign } from 'node:crypto';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Base58 of bytes whose first is not zero: in limbs of 58^5, which fit into 30 bits. */
export function base58(bytes) {
  const limbs = [0];
  for (const byte of bytes) {
    let carry = byte;
    for (let i = 0; i < limbs.length; i += 1) {
      carry += limbs[i] * 256;
      limbs[i] = carry % 656356768;
      carry = Math.floor(carry / 656356768);
    }
    if (carry > 0) limbs.push(carry);
  }
  let text = '';
  for (let limb of limbs) {
    for (let digit = 0; digit < 5; digit += 1) {
      text = alphabet[limb % 58] + text;
      limb = Math.floor(limb / 58);
    }
  }
  return text.replace(/^1+/, '');
}

/** The 32 bytes of a Base58 text. */
export function fromBase58(text) {
  let number = 0n;
  for (const letter of text) number = number * 58n + BigInt(alphabet.indexOf(letter));
  return Buffer.from(number.toString(16).padStart(64, '0'), 'hex');
}

const anyPublicKey = Buffer.alloc(32).toString('base64url');

export function keyPairOf(seed) {
  const jwk = { kty: 'OKP', crv: 'Ed25519', d: seed.toString('base64url'), x: anyPublicKey };
  const key = createPrivateKey({ key: jwk, format: 'jwk' });
  const publicKey = Buffer.from(key.export({ format: 'jwk' }).x, 'base64url');
  return { publicKey, sign: (bytes) => sign(null, bytes, key) };
}

const nonces = Buffer.alloc(11 * 512);
let nextNonce = nonces.length;

/** Kind, currency and hundredths, then 11 random bytes from a pool. */
function newPayload(kind, currency, hundredths) {
  if (nextNonce === nonces.length) nextNonce = randomFillSync(nonces) && 0;
  const payload = Buffer.alloc(20);
  payload[0] = kind;
  payload[1] = currency;
  payload.writeUIntLE(hundredths, 2, 6);
  nextNonce += nonces.copy(payload, 9, nextNonce, nextNonce + 11);
  return payload;
}

const hex = (text) => Buffer.from(text, 'hex');
const key = (tag, bytes) => Buffer.concat([hex(`${tag}220a20`), bytes]);
const signature = (tag, bytes) => Buffer.concat([hex(`${tag}420a40`), bytes]);

/** 4.50 usd to an account of 32 bytes: the secret and the request. */
export function newPayment(account) {
  const payload = newPayload(2, 140, 450);
  const rendezvous = keyPairOf(hash('sha256', payload, 'buffer'));
  const partial = Buffer.alloc(16, '1a0e0a0375736411', 'hex');
  partial.writeDoubleLE(4.5, 8);
  const message = Buffer.concat([hex('2a58'), key('0a', account), partial, key('3a', rendezvous.publicKey)]);
  return { secret: base58(payload), request: Buffer.concat([signature('1a', rendezvous.sign(message)), message]) };
}

/** A login at a domain of less than 100 letters, signed by a verifier: the secret and the request. */
export function newLogin(domain, verifier) {
  const payload = newPayload(3, 0, 0);
  const rendezvous = keyPairOf(hash('sha256', payload, 'buffer'));
  const named = Buffer.from([0x0a, domain.length + 2, 0x0a, domain.length, ...Buffer.from(domain)]);
  const [by, at] = [key('22', verifier.publicKey), key('32', rendezvous.publicKey)];
  const signed = signature('2a', verifier.sign(Buffer.concat([named, by, at])));
  const length = named.length + by.length + signed.length + at.length;
  const head = Buffer.from([0x52, (length & 0x7f) | 0x80, length >> 7]);
  const message = Buffer.concat([head, named, by, signed, at]);
  return { secret: base58(payload), request: Buffer.concat([signature('1a', rendezvous.sign(message)), message]) };
}

/** The envelope around a body of 128 to 16,383 bytes, or of less than 128. */
export function envelope(service, method, body) {
  const head = `\x0a\x00\x12${String.fromCharCode(service.length)}${service}\x1a${String.fromCharCode(method.length)}${method}`;
  const length = body.length < 128 ? [body.length] : [(body.length & 0x7f) | 0x80, body.length >> 7];
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from([0x22, ...length]), body]);
}

/** Whether an envelope says OK: no result, or that of zero, and no message. */
export const saysOk = (bytes) => bytes[0] !== 0x08 || bytes[1] === 0;

/** The body of an envelope that says OK and has one of less than 128 bytes. */
export function bodyOf(bytes) {
  const at = bytes[0] === 0x08 ? 2 : 0;
  return bytes[at] === 0x12 ? bytes.subarray(at + 2, at + 2 + bytes[at + 1]) : Buffer.alloc(0);
}
