import { nativePublicKey, type PublicKeyOf } from './client-secret.js';
import { onDemandFile } from './on-demand-file.js';

const portable = onDemandFile('portable-ed25519', () => import('./portable-ed25519.js'));

/** How this browser derives a public key. Without Ed25519 in WebCrypto it loads a file for it. @throws {Problem} `offline` */
export const loadPublicKeyOf = (signal: AbortSignal): Promise<PublicKeyOf> =>
  nativePublicKey(new Uint8Array(32)).then(
    () => nativePublicKey,
    async () => (await portable.load(signal)).publicKeyOf,
  );
