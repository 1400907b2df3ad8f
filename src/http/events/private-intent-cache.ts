import type { Request, Response } from 'express';
import { BoundedMap } from '../../async/bounded-map.js';
import { withTimeout } from '../../async/timeout.js';
import type { Ledger } from '../../ledger/ledger.js';
import { openClientSecret } from '../encryption.js';
import { type BrowserIdentity, findBrowser, type HostCookie, sameBrowser } from '../request/browser-cookie.js';

/** Most pages are open for minutes. */
const ttlMs = 60 * 60 * 1000;
/** Without the secret a stream still works, with fewer events. */
const restoreTimeoutMs = 1_000;

/** A description can be private, such as the name of a medicine. Anyone who sees the code knows the intent id. */
interface BoundDescription {
  readonly browser: Uint8Array;
  readonly text: string;
}

/**
 * The client secrets and descriptions of intents that this process created or restored.
 *
 * Opening the message stream of an intent requires its rendezvous key, which is derived from the client secret. A browser sends
 * the intent id only, so this cache keeps the secrets. An intent without a cached secret is polled instead.
 */
export class PrivateIntentCache {
  readonly #secrets: BoundedMap<string>;
  readonly #descriptions: BoundedMap<BoundDescription>;

  /** @param capacity the maximum number of entries; a new one evicts the oldest */
  constructor(now: () => number, capacity = 100_000) {
    this.#secrets = new BoundedMap({ ttlMs, capacity, now });
    this.#descriptions = new BoundedMap({ ttlMs, capacity, now });
  }

  /** For tests. */
  get size(): number {
    return this.#secrets.size;
  }

  setClientSecret(intentId: string, clientSecret: string): void {
    this.#secrets.set(intentId, clientSecret);
  }

  getClientSecret(intentId: string): string | undefined {
    return this.#secrets.get(intentId);
  }

  setDescription(intentId: string, browser: Uint8Array, text: string): void {
    this.#descriptions.set(intentId, { browser, text });
  }

  getDescription(intentId: string, browser: Uint8Array): string | undefined {
    const description = this.#descriptions.get(intentId);
    return description && sameBrowser(description.browser, browser) ? description.text : undefined;
  }
}

export interface RestoreContext {
  readonly ledger: Ledger | undefined;
  readonly privateIntents: PrivateIntentCache;
  readonly browserCookie: HostCookie;
}

/**
 * Restores the client secret of an intent that was created by another process or before a restart. The ledger stores it sealed
 * for the browser that created the intent. Never throws.
 * @returns the description of the payment, if this browser created it
 */
export async function restoreClientSecret(
  { ledger, privateIntents, browserCookie }: RestoreContext,
  req: Request,
  res: Response,
  id: string,
): Promise<string | undefined> {
  const browser = findBrowser(browserCookie, req, res);
  if (!browser) return undefined;
  if (ledger && privateIntents.getClientSecret(id) === undefined) await readLedger(ledger, privateIntents, id, browser);
  return privateIntents.getDescription(id, browser.hash);
}

async function readLedger(
  ledger: Ledger,
  privateIntents: PrivateIntentCache,
  id: string,
  browser: BrowserIdentity,
): Promise<void> {
  try {
    const { hash } = browser;
    const intent = await withTimeout(restoreTimeoutMs, () => ledger.findForBrowser(id, hash));
    if (!intent) return;
    if (intent.description !== undefined) privateIntents.setDescription(id, hash, intent.description);
    if (intent.sealedSecret !== undefined)
      privateIntents.setClientSecret(id, await openClientSecret(intent.sealedSecret, id, browser));
  } catch {
    // The ledger reports its own outage.
  }
}
