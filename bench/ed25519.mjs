// Compares libraries for Ed25519 with the package's keys: the work of one POST /intent, which is a key pair from a seed and one
// signature. Requires a build. sodium-native is measured if it is installed:
//   npm install --no-save sodium-native && npm run build && node bench/ed25519.mjs
import { randomBytes } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import nacl from 'tweetnacl';
import { keyPairFromSeed } from '../build/keys/ed25519.js';
import { describeMachine } from './machine.mjs';
import { table } from './report.mjs';
import { medianOf, ratioOf } from './statistics.mjs';

const [rounds, windowMs, warmMs, bytes] = [9, 500, 1_500, randomBytes(200)];
const ours = 'express-intents (node:crypto)';

function withSodium({ default: sodium }) {
  const { crypto_sign_PUBLICKEYBYTES, crypto_sign_SECRETKEYBYTES, crypto_sign_BYTES } = sodium;
  return (seed) => {
    const [publicKey, secretKey] = [Buffer.alloc(crypto_sign_PUBLICKEYBYTES), Buffer.alloc(crypto_sign_SECRETKEYBYTES)];
    const signature = Buffer.alloc(crypto_sign_BYTES);
    sodium.crypto_sign_seed_keypair(publicKey, secretKey, seed);
    sodium.crypto_sign_detached(signature, bytes, secretKey);
    return [publicKey, signature];
  };
}

/** Each derives the public key of a seed and signs with it. */
const libraries = {
  [ours]: (seed) => {
    const pair = keyPairFromSeed(seed);
    return [pair.publicKey, pair.sign(bytes)];
  },
  '@noble/curves': (seed) => [ed25519.getPublicKey(seed), ed25519.sign(bytes, seed)],
  tweetnacl: (seed) => {
    const { publicKey, secretKey } = nacl.sign.keyPair.fromSeed(seed);
    return [publicKey, nacl.sign.detached(bytes, secretKey)];
  },
};
const sodium = await import('sodium-native').catch(() => undefined);
if (sodium) libraries['sodium-native'] = withSodium(sodium);

/** @returns the CPU of one call in microseconds */
function windowOf(work, ms) {
  const [before, endsAtMs] = [process.cpuUsage(), performance.now() + ms];
  let calls = 0;
  for (; performance.now() < endsAtMs; calls += 1) work(randomBytes(32));
  const { user, system } = process.cpuUsage(before);
  return { cpuUs: (user + system) / calls };
}

const seed = randomBytes(32);
const expected = libraries[ours](seed).map((part) => Buffer.from(part).toString('hex'));
for (const [name, work] of Object.entries(libraries)) {
  const found = work(seed).map((part) => Buffer.from(part).toString('hex'));
  if (found.join() !== expected.join()) throw new Error(`${name} has another result.`);
  windowOf(work, warmMs);
}
const samples = Object.fromEntries(Object.keys(libraries).map((name) => [name, []]));
for (let round = 0; round < rounds; round += 1) {
  for (const [name, work] of Object.entries(libraries)) samples[name].push(windowOf(work, windowMs));
}
console.log(`${describeMachine()}.\n`);
const rows = Object.entries(samples).map(([name, found]) => [
  name,
  medianOf(found).toFixed(1),
  ratioOf(found, samples[ours]).toFixed(2),
]);
console.log(table(['key pair and signature', 'CPU us', `x ${ours}`], rows));
