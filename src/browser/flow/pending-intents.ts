import { attempt } from '../validation.js';
import { isIntentId } from './client-secret.js';

// The pending intent of each order, in sessionStorage. It survives a reload, and a phone that discards the tab while the
// wallet is open. Only the public id is stored. Payments also work if the browser denies storage.

/** The pending intent for an order, identified by the settings' `orderJson`. */
export function recallPending(orderJson: string): string | undefined {
  const id = attempt(() => sessionStorage.getItem(itemName(orderJson)));
  return isIntentId(id) ? id : undefined;
}

export function rememberPending(orderJson: string, intentId: string): void {
  attempt(() => sessionStorage.setItem(itemName(orderJson), intentId));
}

export function forgetPending(orderJson: string): void {
  attempt(() => sessionStorage.removeItem(itemName(orderJson)));
}

const itemName = (orderJson: string): string => `intent-button ${orderJson}`;
