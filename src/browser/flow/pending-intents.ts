import { tryOrUndefined } from '../validation.js';
import { isIntentId } from './client-secret.js';

// The pending intent of each order: its public id, stored under the JSON of mode, order and amount. The client secret is never
// stored. Payments also work if the browser denies storage.
//
// sessionStorage survives a reload, also after a phone has discarded the tab while the wallet is open. When the visitor leaves
// the page, the pending payments are also copied to localStorage, for a tab that was closed: the next page of the site takes
// the copy, so that the payment is not made twice. Logins, and payments with a login, stay in their tab: another visitor of this
// browser must not complete them.

/** How long a payment of a closed tab is kept. */
const keptMs = 3_600_000;

/** The pending intent for an order, identified by the settings' `orderJson`. */
export function recallPending(orderJson: string): string | undefined {
  const name = itemName(orderJson);
  return tryOrUndefined(() => {
    const [id, leftAtMs] = localStorage.getItem(name)?.split(' ') ?? [];
    // This tab takes the copy, so no other tab can.
    localStorage.removeItem(name);
    if (isIntentId(id) && Date.now() - Number(leftAtMs) < keptMs && !sessionStorage.getItem(name)) {
      sessionStorage.setItem(name, id);
    }
    const pending = sessionStorage.getItem(name);
    return isIntentId(pending) ? pending : undefined;
  });
}

export function rememberPending(orderJson: string, intentId: string): void {
  tryOrUndefined(() => sessionStorage.setItem(itemName(orderJson), intentId));
}

/** @param intentId if given, another pending intent of the order is kept */
export function forgetPending(orderJson: string, intentId?: string): void {
  if (intentId && recallPending(orderJson) !== intentId) return;
  tryOrUndefined(() => sessionStorage.removeItem(itemName(orderJson)));
}

/** Copies a pending payment for the next page of the site, because the visitor leaves this one. */
export function shareWithNextPage(orderJson: string, intentId: string): void {
  tryOrUndefined(() => localStorage.setItem(itemName(orderJson), `${intentId} ${Date.now()}`));
}

/** Removes the copy, because the visitor is back on the page. */
export function unsharePending(orderJson: string): void {
  tryOrUndefined(() => localStorage.removeItem(itemName(orderJson)));
}

const itemName = (orderJson: string): string => `intent-button ${orderJson}`;
