import { createHash } from 'node:crypto';

/** The same at every start, so that the users of a site under development stay who they are. No secret is kept by it. */
export function walletSeed(name: string): Uint8Array {
  return createHash('sha256').update(`express-intents simulated wallet ${name}`).digest();
}
