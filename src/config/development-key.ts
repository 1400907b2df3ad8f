import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createKeyRing, type VerifierKeyRing } from '../keys/key-ring.js';
import { generateKeyPair } from '../keys/verifier-key.js';
import type { Environment } from './variables.js';

/** The key of a site that uses the simulator and sets no key. */
export interface DevelopmentKey {
  readonly keyRing: VerifierKeyRing;
  /** Whether the next start uses it too. */
  readonly isPersisted: boolean;
}

/** The path in the site's folder. npm never publishes `node_modules`, and most sites exclude it from git. */
export const developmentKeyFile = path.join('node_modules', '.cache', 'express-intents', 'development-key');

/**
 * The key is stored in `node_modules/.cache`, so visitors stay logged in when `node --watch` restarts the site. If `NODE_ENV` is
 * set to a value other than `development`, or `node_modules` is missing or not writable, each start has a new key. Production
 * refuses the simulator.
 * @param isReadOnly uses a stored key, and stores no new one
 */
export function developmentKey({ NODE_ENV = 'development' }: Environment, isReadOnly = false): DevelopmentKey {
  const canPersist = NODE_ENV === 'development' && existsSync('node_modules');
  const load = isReadOnly ? readKey : loadOrCreateKey;
  const persisted = canPersist ? load() : undefined;
  if (persisted) return { keyRing: persisted, isPersisted: true };
  return { keyRing: createKeyRing(generateKeyPair().secret), isPersisted: false };
}

/** Undefined if the file can be neither read nor written. */
function loadOrCreateKey(): VerifierKeyRing | undefined {
  return readKey() ?? writeKey();
}

/** Undefined if the file is missing, unreadable or not a key. */
function readKey(): VerifierKeyRing | undefined {
  try {
    return createKeyRing(readFileSync(developmentKeyFile, 'utf8'));
  } catch {
    return undefined;
  }
}

function writeKey(): VerifierKeyRing | undefined {
  const draft = `${developmentKeyFile}.${process.pid}`;
  try {
    mkdirSync(path.dirname(developmentKeyFile), { recursive: true });
    rmSync(draft, { force: true });
    writeFileSync(draft, generateKeyPair().secret, { mode: 0o600, flag: 'wx' });
    moveIntoPlace(draft);
    return readKey();
  } catch {
    return undefined;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** A link fails if another process has written the file. Both then use the same key. */
function moveIntoPlace(draft: string): void {
  try {
    linkSync(draft, developmentKeyFile);
  } catch {
    if (!readKey()) renameSync(draft, developmentKeyFile);
  }
}
