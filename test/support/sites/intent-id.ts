import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import nacl from 'tweetnacl';

/** What the browser does with a client secret, by other code than ours: the intent's id. */
export function intentIdOf(clientSecret: string): string {
  const seed = createHash('sha256').update(bs58.decode(clientSecret)).digest();
  return bs58.encode(nacl.sign.keyPair.fromSeed(seed).publicKey);
}
