import { isOnOrigin } from '../intents/return-address.js';
import { attempt } from './attempt.js';
import { requireThat } from './require-that.js';
import { siteReturnOrigins } from './site-config.js';

/** Where a person goes after success or cancel. `{{INTENT_ID}}` in it becomes the id. */
export interface ReturnAddress {
  /** Absolute, or a path; on the page's own origin or one of the server's `returnOrigins`. */
  readonly url: string;
}

/**
 * The absolute address to go to.
 * @throws {TypeError} unless it is on the origin of the page, or on one that the site names
 */
export function returnUrl(template: string, intentId = ''): string {
  const url = httpUrl(template.replaceAll('{{INTENT_ID}}', encodeURIComponent(intentId)), 'url');
  requireThat(isOnOrigin(url, [location.origin, ...siteReturnOrigins]), 'url', 'on this site');
  return url;
}

/** @throws {TypeError} for what is no address, and for schemes such as `javascript:` */
export function httpUrl(text: string, what: string): string {
  const url = attempt(() => new URL(text, location.href).href) ?? '';
  requireThat(/^https?:/.test(url), what, 'an http or https address');
  return url;
}

/**
 * The address that opens the wallet. The secret is in the fragment, which browsers send to no server.
 * @param back where the wallet goes on to when it is on this very device
 */
export function walletLink(
  walletUrl: string,
  clientSecret: string,
  back: Readonly<Record<string, string | undefined>> = {},
  intentId?: string,
): string {
  const ways = Object.entries(back).map(
    ([name, url]) => url && `&${name}=${encodeURIComponent(returnUrl(url, intentId))}`,
  );
  return `${walletUrl}#${clientSecret}${ways.join('')}`;
}
