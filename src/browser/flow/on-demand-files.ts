import { NativePromise } from '../built-ins.js';
import { siteFolder } from '../site-config.js';
import type { Texts } from '../texts/en.js';
import { languageOf } from '../texts/language-of.js';
import { Problem } from './api.js';
import { nativePublicKey, type PublicKeyOf } from './client-secret.js';
import { delay, retryUntil } from './retry.js';

/** A file in the folder of elements.js that is loaded when it is needed, once for all buttons of the page. */
interface OnDemandFile<Module> {
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
    // The comments let the bundler of an app keep the import unchanged without a warning.
    const started = address ? import(/* webpackIgnore: true */ /* @vite-ignore */ address) : importFile();
    const loaded = await NativePromise.race([started, delay(timeoutMs)]).catch(() => undefined);
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

const dialogFile = onDemandFile('intent-dialog', () => import('../dialog/intent-dialog.js'));

/** How long a loaded dialog waits for its texts, without a retry. A payment must not wait for a translation. */
const textsWaitMs = 1_000;

/** The texts of the dialog. Those in English are part of the dialog. Each file exports its texts under the name of the language. */
const textFiles: Readonly<Record<string, OnDemandFile<Readonly<Record<string, Texts>>>>> = {
  de: onDemandFile('de', () => import('../texts/de.js')),
  es: onDemandFile('es', () => import('../texts/es.js')),
  fr: onDemandFile('fr', () => import('../texts/fr.js')),
  ja: onDemandFile('ja', () => import('../texts/ja.js')),
};

/** Starts loading the dialog and its texts in the language of a supported tag. */
export function preloadDialog(tag: string): void {
  for (const file of [dialogFile, textFiles[languageOf(tag)]]) file?.preload().catch(() => undefined);
}

/** Loads the texts of the dialog in the language of a supported tag. Undefined for English, and if the file cannot be loaded. */
export const loadTexts = async (tag: string): Promise<Texts | undefined> => {
  const language = languageOf(tag);
  return (await textFiles[language]?.preload().catch(() => undefined))?.[language];
};

/**
 * Loads the dialog, and its texts in the language of a supported tag. Without a file for the language, or if that file is not
 * loaded in time, `texts` is undefined, and the dialog is in English.
 * @throws {Problem} `offline`; after an abort, one with any code
 */
export async function loadDialog(tag: string, signal: AbortSignal) {
  const loadingTexts = loadTexts(tag);
  const { IntentDialog } = await dialogFile.load(signal);
  const texts = await NativePromise.race([loadingTexts, delay(textsWaitMs).then(() => undefined)]);
  return { IntentDialog, texts };
}

const ed25519File = onDemandFile('portable-ed25519', () => import('./portable-ed25519.js'));

/** The function that derives a public key. If WebCrypto has no Ed25519, it is loaded. @throws {Problem} `offline` */
export const loadPublicKeyOf = (signal: AbortSignal): Promise<PublicKeyOf> =>
  // WebKit rejects a seed of zeros.
  nativePublicKey(new Uint8Array(32).fill(1)).then(
    () => nativePublicKey,
    async () => (await ed25519File.load(signal)).publicKeyOf,
  );
