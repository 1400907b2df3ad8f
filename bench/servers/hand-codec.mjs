// A hand-written codec and client of the protocol, for the servers `limit` and `one middleware`. Layouts as in
// proto/intents.proto.
import { createPrivateKey, hash, randomFillSync, sign } from 'node:crypto';
import { connect } from 'node:net';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** Base58 of bytes without leading zeros, in limbs of 58^5, which fit into 30 bits. */
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

/** A payment of 4.50 usd to an account of 32 bytes. */
export function newPayment(account) {
  const payload = newPayload(2, 140, 450);
  const rendezvous = keyPairOf(hash('sha256', payload, 'buffer'));
  const partial = Buffer.alloc(16, '1a0e0a0375736411', 'hex');
  partial.writeDoubleLE(4.5, 8);
  const message = Buffer.concat([hex('2a58'), key('0a', account), partial, key('3a', rendezvous.publicKey)]);
  return { secret: base58(payload), request: Buffer.concat([signature('1a', rendezvous.sign(message)), message]) };
}

/** A login at a domain of less than 100 letters, signed by a verifier. */
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

/** The envelope of a body of at most 16,383 bytes. */
export function envelope(service, method, body) {
  const head = `\x0a\x00\x12${String.fromCharCode(service.length)}${service}\x1a${String.fromCharCode(method.length)}${method}`;
  const length = body.length < 128 ? [body.length] : [(body.length & 0x7f) | 0x80, body.length >> 7];
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from([0x22, ...length]), body]);
}

/** Whether the result of an envelope is OK. */
export const isOk = (bytes) => bytes[0] !== 0x08 || bytes[1] === 0;

/** The body of an OK envelope, if it has less than 128 bytes. */
export function bodyOf(bytes) {
  const at = bytes[0] === 0x08 ? 2 : 0;
  return bytes[at] === 0x12 ? bytes.subarray(at + 2, at + 2 + bytes[at + 1]) : Buffer.alloc(0);
}

/**
 * Calls to the sequencer over plain sockets, one at a time on each: the minimum cost of a call over HTTP.
 * @returns a function that calls `done` with the envelope, or undefined if the connection failed
 */
export function rawCalls(url) {
  const { hostname, port, host } = new URL(url);
  const idle = [];

  function open() {
    const connection = {
      socket: connect({ host: hostname, port, noDelay: true }),
      done: undefined,
      received: undefined,
    };
    connection.socket.on('data', (chunk) => receive(connection, chunk));
    connection.socket.on('error', () => undefined);
    connection.socket.on('close', () => {
      // The sequencer closes idle connections.
      if (idle.includes(connection)) idle.splice(idle.indexOf(connection), 1);
      connection.done?.(undefined);
    });
    return connection;
  }

  function receive(connection, chunk) {
    const bytes = connection.received ? Buffer.concat([connection.received, chunk]) : chunk;
    const headEnd = bytes.indexOf('\r\n\r\n');
    const length = headEnd < 0 ? Infinity : Number(/content-length: (\d+)/i.exec(bytes.latin1Slice(0, headEnd))[1]);
    if (bytes.length < headEnd + 4 + length) {
      connection.received = bytes;
      return;
    }
    const { done } = connection;
    connection.received = connection.done = undefined;
    idle.push(connection);
    done(bytes.subarray(headEnd + 4));
  }

  return (body, done) => {
    const connection = idle.pop() ?? open();
    connection.done = done;
    const head = `POST /v1/api HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/octet-stream\r\nContent-Length: ${body.length}\r\n\r\n`;
    connection.socket.write(Buffer.concat([Buffer.from(head, 'latin1'), body]));
  };
}
