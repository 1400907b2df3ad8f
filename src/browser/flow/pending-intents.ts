import { tryOrUndefined } from '../validation.js';
import { isPublicKey } from './client-secret.js';

// The pending intent of each order: its public id, stored under the router and the JSON of mode, order and amount. The client
// secret is never stored. Payments also work if the browser denies storage.
//
// sessionStorage survives a reload, also after a phone has discarded the tab while the wallet is open. When the visitor leaves
// the page, the pending payments are also copied to localStorage, for a tab that was closed: the next page of the site takes
// the copy, so that the payment is not made twice. Logins, and payments with a login, stay in their tab: another visitor of this
// browser must not complete them.

/** How long a payment of a closed tab is kept. */
const keptMs = 3_600_000;

/** A pending intent. */
interface PendingIntent {
  readonly id: string;
  /** Whether the page provided its client secret. */
  readonly isFromPage: boolean;
}

/** The pending intent for an order, identified by the settings' `orderKey`. */
export function recallPending(orderKey: string): PendingIntent | undefined {
  return tryOrUndefined(() => {
    const [id, leftAtMs] = localStorage.getItem(orderKey)?.split(' ') ?? [];
    // This tab takes the copy, so no other tab can.
    localStorage.removeItem(orderKey);
    if (isPublicKey(id) && Date.now() - Number(leftAtMs) < keptMs && !sessionStorage.getItem(orderKey)) {
      sessionStorage.setItem(orderKey, id);
    }
    const [pendingId, source] = sessionStorage.getItem(orderKey)?.split(' ') ?? [];
    return isPublicKey(pendingId) ? { id: pendingId, isFromPage: source === 'page' } : undefined;
  });
}

export function rememberPending(orderKey: string, { id, isFromPage }: PendingIntent): void {
  tryOrUndefined(() => sessionStorage.setItem(orderKey, isFromPage ? `${id} page` : id));
}

/** @param intentId if given, another pending intent of the order is kept */
export function forgetPending(orderKey: string, intentId?: string): void {
  if (intentId && recallPending(orderKey)?.id !== intentId) return;
  tryOrUndefined(() => sessionStorage.removeItem(orderKey));
}

/** Copies a pending payment for the next page of the site, because the visitor leaves this one. */
export function shareWithNextPage(orderKey: string, intentId: string): void {
  tryOrUndefined(() => localStorage.setItem(orderKey, `${intentId} ${Date.now()}`));
}

/** Removes the copy, because the visitor is back on the page. */
export function unsharePending(orderKey: string): void {
  tryOrUndefined(() => localStorage.removeItem(orderKey));
}
