import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import bs58 from 'bs58';

/** The bytes before the 32 bytes of the seed (RFC 8410, section 7). */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The id of an intent from its client secret, as the browser derives it. Independent of our code. */
export function intentIdOf(clientSecret: string): string {
  const seed = createHash('sha256').update(bs58.decode(clientSecret)).digest();
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return bs58.encode(spki.subarray(-32));
}
