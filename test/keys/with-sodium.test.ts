import sodium from 'sodium-native';
import { keyPairFromSeed, useSodium } from '../../src/keys/ed25519.js';

useSodium(sodium);

test('after useSodium the key pairs are those of sodium-native', () => {
  expect(keyPairFromSeed(new Uint8Array(32)).constructor.name).toBe('SodiumKeyPair');
});

// The same tests as with node:crypto.
await import('./ed25519.test.js');
await import('./secrecy.test.js');
await import('../vectors/vectors.test.js');
await import('../sequencer/sent-bytes.test.js');
