import type { Request, Response } from 'express';
import { BoundedMap } from '../../async/bounded-map.js';
import { withTimeout } from '../../async/timeout.js';
import type { Ledger } from '../../ledger/ledger.js';
import { openClientSecret } from '../encryption.js';
import { type HostCookie, knownBrowser } from '../request/browser-cookie.js';

/** An intent is paid within minutes, or not at all. */
const ttlMs = 60 * 60 * 1000;
/** A stream works without the secret; it only has fewer events. */
const restoreTimeoutMs = 1_000;

/**
 * The client secrets of intents that this process created or restored.
 *
 * The request that opens the message stream of an intent is signed with its rendezvous key, which is made from the client
 * secret, and a browser names the intent by its id alone. So the secrets stay here for as long as a stream may be opened.
 * An intent whose secret is missing is polled instead.
 */
export class ClientSecretCache {
  readonly #secrets: BoundedMap<string>;

  /** @param capacity how many are kept; the oldest makes room */
  constructor(now: () => number, capacity = 100_000) {
    this.#secrets = new BoundedMap({ ttlMs, capacity, now });
  }

  /** How many are kept. */
  get size(): number {
    return this.#secrets.size;
  }

  remember(intentId: string, clientSecret: string): void {
    this.#secrets.set(intentId, clientSecret);
  }

  of(intentId: string): string | undefined {
    return this.#secrets.get(intentId);
  }
}

/** Where a client secret is restored from, and for whom. */
export interface RestoreContext {
  readonly ledger: Ledger | undefined;
  readonly secrets: ClientSecretCache;
  readonly browserCookie: HostCookie;
}

/**
 * Restores the client secret of an intent that another process created, or this one before a restart, from the ledger, which
 * keeps it sealed for the browser that began the intent. Never throws.
 */
export async function restoreClientSecret(
  { ledger, secrets, browserCookie }: RestoreContext,
  req: Request,
  res: Response,
  id: string,
): Promise<void> {
  if (!ledger || secrets.of(id) !== undefined) return;
  const browser = knownBrowser(browserCookie, req, res);
  if (!browser) return;
  try {
    const sealed = await withTimeout(restoreTimeoutMs, () => ledger.sealedSecret(id, browser.hash));
    if (sealed !== undefined) secrets.remember(id, await openClientSecret(sealed, id, browser));
  } catch {
    // A ledger that fails is reported by what cannot do without it.
  }
}
