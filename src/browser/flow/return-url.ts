import { isOnOrigin } from '../../intents/return-address.js';
import { site } from '../site-config.js';
import { httpUrl, requireThat } from '../validation.js';

/** Where the browser goes after success or cancel. `{{INTENT_ID}}` in it becomes the id. */
export interface ReturnAddress {
  /** Absolute, or a path; on the page's own origin or one of the server's `returnOrigins`. */
  readonly url: string;
}

/** @returns the absolute address @throws {TypeError} unless its origin is the page's or one the site allows */
export function returnUrl(template: string, intentId = ''): string {
  const url = httpUrl(template.replaceAll('{{INTENT_ID}}', encodeURIComponent(intentId)), 'url');
  requireThat(isOnOrigin(url, [location.origin, ...site.returnOrigins]), 'url', 'on this site');
  return url;
}

/**
 * The address that opens the wallet. The secret is in the fragment, which browsers send to no server.
 * @param returnUrls where a wallet on this device continues afterwards
 */
export function walletLink(
  walletUrl: string,
  clientSecret: string,
  returnUrls: Readonly<Record<string, string | undefined>> = {},
  intentId?: string,
): string {
  const parameters = Object.entries(returnUrls).map(
    ([name, url]) => url && `&${name}=${encodeURIComponent(returnUrl(url, intentId))}`,
  );
  return `${walletUrl}#${clientSecret}${parameters.join('')}`;
}
