import type { Request, Response } from 'express';
import { withTimeout } from '../../async/timeout.js';
import { knownBrowser } from '../request/browser-cookie.js';
import type { RouterContext } from '../router-context.js';
import { openClientSecret } from '../sealing.js';

/** Without the secret there is a stream of events all the same; it only hears less. */
const patienceMs = 1_000;

/**
 * Learns the client secret of an intent that another process has created, or this one before a restart, from what the
 * ledger keeps sealed for the browser that asks. Never throws: then the status is asked for instead.
 */
export async function learnSecret(context: RouterContext, req: Request, res: Response, id: string): Promise<void> {
  const { ledger, secrets, browserCookie } = context;
  if (!ledger || secrets.of(id) !== undefined) return;
  const browser = knownBrowser(browserCookie, req, res);
  if (!browser) return;
  try {
    const sealed = await withTimeout(patienceMs, () => ledger.sealedSecret(id, browser.hash));
    if (sealed !== undefined) secrets.remember(id, await openClientSecret(sealed, id, browser));
  } catch {
    // Said where the ledger is asked for what cannot be done without it.
  }
}
