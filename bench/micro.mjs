// What the single steps cost, each beside its alternatives: CPU of this process for one, medians of rounds in turns.
//   npm run bench:micro [-- --rounds 15]
// Needs a build.
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { parseArgs } from 'node:util';
import { ed25519 as noble } from '@noble/curves/ed25519.js';
import bs58 from 'bs58';
import protobuf from 'protobufjs';
import nacl from 'tweetnacl';
import { openSession, sealSession } from '../build/http/sealed-session.js';
import { encodePayload } from '../build/intents/payload.js';
import { signPaymentIntent } from '../build/intents/payment-intent.js';
import { formatBase58, parseBase58 } from '../build/keys/base58.js';
import { keyPairFromSeed, verifySignature } from '../build/keys/ed25519.js';
import { randomBytes as fromReserve } from '../build/keys/random-bytes.js';
import { decode, encode, v1 } from '../build/wire/codec.js';
import { median } from './measure.mjs';
import { base58, fromBase58, newPayment } from './servers/hand-codec.mjs';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' } } });
/** How long one alternative runs in a round, in milliseconds. */
const sliceMs = 20;

const seed = randomBytes(32);
const message = randomBytes(90);
const nonce = randomBytes(11);
const destination = 'E8otxw1CVX9bfyddKu3ZB3BVLa4VVF9J7CTPdnUwT9jR';
const account = fromBase58(destination);
const terms = { amount: '4.50', currency: 'usd', destination };

const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
const importPkcs8 = () => createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
const keyPair = keyPairFromSeed(seed);
const nativeKey = importPkcs8();
const publicKeyObject = createPublicKey(nativeKey);
const naclPair = nacl.sign.keyPair.fromSeed(seed);
const signature = keyPair.sign(message);

const intent = await signPaymentIntent(terms);
const bytes = encode(v1.Message, intent.message);
const proto = await protobuf.load(new URL('../proto/intents.proto', import.meta.url).pathname);
const reflected = proto.lookupType('intents.v1.Message');

const sealing = randomBytes(32);
const user = { id: formatBase58(keyPair.publicKey) };
const endsAtMs = Date.now() + 3_600_000;
const sealed = await sealSession(user, sealing, endsAtMs);
function sealByHand() {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', sealing, iv);
  return Buffer.concat([iv, cipher.update(user.id), cipher.final(), cipher.getAuthTag()]).toString('base64url');
}
const sealedByHand = sealByHand();
function openByHand() {
  const all = Buffer.from(sealedByHand, 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', sealing, all.subarray(0, 12)).setAuthTag(all.subarray(-16));
  return decipher.update(all.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8');
}

/** The first of each is ours. */
const steps = {
  payload: {
    ours: () => encodePayload({ kind: 'payment', money: { currency: 'usd', hundredths: 450n }, nonce }),
    'a Buffer by hand': () => {
      const payload = Buffer.alloc(20, 0);
      payload[0] = 2;
      payload[1] = 140;
      payload.writeUIntLE(450, 2, 6);
      nonce.copy(payload, 9);
      return payload;
    },
  },
  nonce: { ours: () => fromReserve(11), 'node:crypto': () => randomBytes(11) },
  'key pair': {
    ours: () => keyPairFromSeed(seed),
    'PKCS#8': () => createPublicKey(importPkcs8()).export({ format: 'jwk' }),
    '@noble/curves': () => noble.getPublicKey(seed),
    tweetnacl: () => nacl.sign.keyPair.fromSeed(seed),
  },
  sign: {
    ours: () => keyPair.sign(message),
    'node:crypto': () => sign(null, message, nativeKey),
    '@noble/curves': () => noble.sign(message, seed),
    tweetnacl: () => nacl.sign.detached(message, naclPair.secretKey),
  },
  verify: {
    ours: () => verifySignature(keyPair.publicKey, message, signature),
    'node:crypto, key kept': () => verify(null, message, publicKeyObject, signature),
    '@noble/curves': () => noble.verify(signature, message, keyPair.publicKey),
    tweetnacl: () => nacl.sign.detached.verify(message, signature, naclPair.publicKey),
  },
  encode: {
    'ours, static code': () => encode(v1.Message, intent.message),
    reflection: () => reflected.encode(intent.message).finish(),
  },
  decode: { 'ours, static code': () => decode(v1.Message, bytes), reflection: () => reflected.decode(bytes) },
  'a whole intent': { ours: () => signPaymentIntent(terms), 'by hand': () => newPayment(account) },
  'Base58 of 32 bytes': {
    ours: () => formatBase58(account),
    bs58: () => bs58.encode(account),
    'limbs by hand': () => base58(account),
  },
  '32 bytes of Base58': {
    'ours, which refuses a second spelling': () => parseBase58(destination, 32, 'invalid_id'),
    bs58: () => bs58.decode(destination),
    'BigInt by hand': () => fromBase58(destination),
  },
  'cookie seal': { 'ours, JWE by jose': () => sealSession(user, sealing, endsAtMs), 'AES by hand': sealByHand },
  'cookie open': {
    'ours, JWE by jose': () => openSession(sealed, [sealing], Date.now()),
    'AES by hand': openByHand,
  },
};

async function costOf(run) {
  const begun = process.cpuUsage();
  const endMs = performance.now() + sliceMs;
  let count = 0;
  // The clock is looked at now and then only; what is dear is looked at each time, nearly.
  while (performance.now() < endMs) {
    for (let n = 0; n < 8; n += 1) {
      const result = run();
      if (result instanceof Promise) await result;
    }
    count += 8;
  }
  const { user: inUser, system } = process.cpuUsage(begun);
  return (inUser + system) / count;
}

console.log('| step | way | CPU us | x ours |\n| --- | --- | ---: | ---: |');
for (const [step, ways] of Object.entries(steps)) {
  const entries = Object.entries(ways);
  const costs = entries.map(() => []);
  for (let round = -3; round < Number(values.rounds); round += 1) {
    for (const [index, [, run]] of entries.entries()) {
      const cost = await costOf(run);
      if (round >= 0) costs[index].push(cost);
    }
  }
  for (const [index, [way]] of entries.entries()) {
    const times = median(costs[index].map((cost, round) => cost / costs[0][round]));
    console.log(`| ${index === 0 ? step : ''} | ${way} | ${median(costs[index]).toFixed(2)} | ${times.toFixed(2)} |`);
  }
}
