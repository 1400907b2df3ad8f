import type { Request, Response } from 'express';
import { BoundedMap } from '../../async/bounded-map.js';
import { withTimeout } from '../../async/timeout.js';
import type { Ledger } from '../../ledger/ledger.js';
import { openClientSecret } from '../encryption.js';
import { findBrowser, type HostCookie } from '../request/browser-cookie.js';

/** Intents are paid within minutes, or never. */
const ttlMs = 60 * 60 * 1000;
/** Without the secret a stream still works, with fewer events. */
const restoreTimeoutMs = 1_000;

/**
 * The client secrets of intents that this process created or restored.
 *
 * Opening the message stream of an intent requires its rendezvous key, which is derived from the client secret. A browser sends
 * the intent id only, so this cache keeps the secrets. An intent without a cached secret is polled instead.
 */
export class ClientSecretCache {
  readonly #secrets: BoundedMap<string>;

  /** @param capacity the oldest entry is dropped beyond it */
  constructor(now: () => number, capacity = 100_000) {
    this.#secrets = new BoundedMap({ ttlMs, capacity, now });
  }

  /** The number of cached secrets. */
  get size(): number {
    return this.#secrets.size;
  }

  set(intentId: string, clientSecret: string): void {
    this.#secrets.set(intentId, clientSecret);
  }

  get(intentId: string): string | undefined {
    return this.#secrets.get(intentId);
  }
}

export interface RestoreContext {
  readonly ledger: Ledger | undefined;
  readonly secrets: ClientSecretCache;
  readonly browserCookie: HostCookie;
}

/**
 * Restores the client secret of an intent that was created by another process or before a restart. The ledger stores it sealed
 * for the browser that created the intent. Never throws.
 */
export async function restoreClientSecret(
  { ledger, secrets, browserCookie }: RestoreContext,
  req: Request,
  res: Response,
  id: string,
): Promise<void> {
  if (!ledger || secrets.get(id) !== undefined) return;
  const browser = findBrowser(browserCookie, req, res);
  if (!browser) return;
  try {
    const sealed = await withTimeout(restoreTimeoutMs, () => ledger.sealedSecret(id, browser.hash));
    if (sealed !== undefined) secrets.set(id, await openClientSecret(sealed, id, browser));
  } catch {
    // The ledger reports its own outage.
  }
}
