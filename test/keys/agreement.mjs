// Compares the two Ed25519 implementations of the build on 1,000 random seeds and messages, and prints how many agreed.
// A program of its own, because tweetnacl is some thirty times slower inside the sandbox of the test runner.
import { randomBytes, randomInt } from 'node:crypto';
import { keyPairFromSeed } from '../../build/keys/ed25519.js';
import { portableKeyPair } from '../../build/keys/portable-ed25519.js';

let agreed = 0;
for (let n = 0; n < 1_000; n++) {
  const seed = randomBytes(32);
  const message = randomBytes(randomInt(200));
  const [native, portable] = [keyPairFromSeed(seed), portableKeyPair(seed)];
  const sameKey = Buffer.compare(native.publicKey, portable.publicKey) === 0;
  const sameSignature = Buffer.compare(native.sign(message), portable.sign(message)) === 0;
  if (sameKey && sameSignature) agreed += 1;
  else console.error(`They differ for the seed ${seed.toString('hex')} and the message ${message.toString('hex')}.`);
}
console.log(agreed);
