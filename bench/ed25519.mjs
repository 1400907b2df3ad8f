// Compares libraries for Ed25519 with the package's keys: the work of one payment, which is a key pair from a seed and a signature.
//   node bench/ed25519.mjs [--rounds 9 --ms 500 --warm-ms 1500]
// Requires a build.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { ed25519 } from '@noble/curves/ed25519.js';
import sodium from 'sodium-native';
import nacl from 'tweetnacl';
import { keyPairFromSeed } from '../build/keys/ed25519.js';
import { describeMachine } from './machine.mjs';
import { table } from './report.mjs';
import { medianOf, ratioOf } from './statistics.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    ms: { type: 'string', default: '500' },
    'warm-ms': { type: 'string', default: '1500' },
  },
});
const [rounds, ms, warmMs] = ['rounds', 'ms', 'warm-ms'].map((name) => Number(values[name]));

const ours = 'express-intents (node:crypto)';
const bytes = randomBytes(200);
const seeds = Array.from({ length: 1_000 }, () => randomBytes(32));

const withSodium = (seed) => {
  const publicKey = Buffer.alloc(sodium.crypto_sign_PUBLICKEYBYTES);
  const secretKey = Buffer.alloc(sodium.crypto_sign_SECRETKEYBYTES);
  const signature = Buffer.alloc(sodium.crypto_sign_BYTES);
  sodium.crypto_sign_seed_keypair(publicKey, secretKey, seed);
  sodium.crypto_sign_detached(signature, bytes, secretKey);
  return [publicKey, signature];
};

/** Each returns the public key of a seed and a signature, through the usual functions of the library. */
const libraries = {
  [ours]: (seed) => {
    const pair = keyPairFromSeed(seed);
    return [pair.publicKey, pair.sign(bytes)];
  },
  'sodium-native': withSodium,
  '@noble/curves': (seed) => [ed25519.getPublicKey(seed), ed25519.sign(bytes, seed)],
  tweetnacl: (seed) => {
    const { publicKey, secretKey } = nacl.sign.keyPair.fromSeed(seed);
    return [publicKey, nacl.sign.detached(bytes, secretKey)];
  },
};

/** @returns the CPU time of one call, in microseconds */
function runWindow(work, windowMs) {
  const [before, endsAtMs] = [process.cpuUsage(), performance.now() + windowMs];
  let calls = 0;
  for (; performance.now() < endsAtMs; calls += 1) work(seeds[calls % seeds.length]);
  const { user, system } = process.cpuUsage(before);
  return { cpuUs: (user + system) / calls };
}

const hexOf = (parts) => parts.map((part) => Buffer.from(part).toString('hex')).join();
for (const [name, work] of Object.entries(libraries)) {
  if (hexOf(work(seeds[0])) !== hexOf(libraries[ours](seeds[0]))) throw new Error(`${name} has another result.`);
  runWindow(work, warmMs);
}
const samples = Object.fromEntries(Object.keys(libraries).map((name) => [name, []]));
for (let round = 0; round < rounds; round += 1) {
  for (const [name, work] of Object.entries(libraries)) samples[name].push(runWindow(work, ms));
}
console.log(`${describeMachine()}.\n`);
const rows = Object.entries(samples).map(([name, found]) => [
  name,
  medianOf(found).toFixed(1),
  ratioOf(found, samples[ours]).toFixed(2),
]);
console.log(table(['a key pair and a signature', 'CPU us', `x ${ours}`], rows));
