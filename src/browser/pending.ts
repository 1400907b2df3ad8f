import { attempt } from './attempt.js';
import { isIntentId } from './intent-id.js';

// Survives a reload, and a phone that ends the tab while its owner is in the wallet. Only the public id is kept.
// A browser may deny its storage; paying goes on without.

/** The intent that was begun for the same thing and is not known to be over. */
export function recallPending(what: string): string | undefined {
  const id = attempt(() => sessionStorage.getItem(keyOf(what)));
  return isIntentId(id) ? id : undefined;
}

export function rememberPending(what: string, intentId: string): void {
  attempt(() => sessionStorage.setItem(keyOf(what), intentId));
}

export function forgetPending(what: string): void {
  attempt(() => sessionStorage.removeItem(keyOf(what)));
}

const keyOf = (what: string): string => `intent-button ${what}`;
