import { siteFolder } from '../site-config.js';
import { Problem } from './api.js';
import { nativePublicKey, type PublicKeyOf } from './client-secret.js';
import { delay, retryUntil } from './retry.js';

/** A file in the folder of elements.js that is loaded when it is needed, once for all buttons of the page. */
export interface OnDemandFile<Module> {
  /** Starts loading the file, so that it is ready when it is needed. @throws {Problem} `offline` */
  preload(): Promise<Module>;
  /** Loads the file, with retries. @throws {Problem} `offline`; after an abort, one with any code */
  load(signal: AbortSignal): Promise<Module>;
}

/** A connection can stop responding without an error. */
const timeoutMs = 10_000;

/** The time in which a retry can be scheduled. */
const retryWindowMs = 2_500;

/** @param importFile imports the file by a literal path, which a bundler rewrites */
function onDemandFile<Module>(name: string, importFile: () => Promise<Module>): OnDemandFile<Module> {
  let loading: Promise<Module> | undefined;
  let failures = 0;
  const start = async (): Promise<Module> => {
    // Some browsers cache a failed import, so a retry uses another URL.
    const address = failures && siteFolder && `${siteFolder}${name}.js?retry=${failures}`;
    const started = address ? import(address) : importFile();
    const loaded = await Promise.race([started, delay(timeoutMs)]).catch(() => undefined);
    if (loaded) return loaded as Module;
    loading = undefined;
    failures += 1;
    throw new Problem('offline');
  };
  const preload = (): Promise<Module> => {
    loading ??= start();
    return loading;
  };
  return { preload, load: (signal) => retryUntil(signal, retryWindowMs, () => true, preload) };
}

export const dialogFile = onDemandFile('intent-dialog', () => import('../dialog/intent-dialog.js'));

const ed25519File = onDemandFile('portable-ed25519', () => import('./portable-ed25519.js'));

/** The function that derives a public key. If WebCrypto has no Ed25519, it is loaded. @throws {Problem} `offline` */
export const loadPublicKeyOf = (signal: AbortSignal): Promise<PublicKeyOf> =>
  // WebKit rejects a seed of zeros.
  nativePublicKey(new Uint8Array(32).fill(1)).then(
    () => nativePublicKey,
    async () => (await ed25519File.load(signal)).publicKeyOf,
  );
