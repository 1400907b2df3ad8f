import { isOnOrigin } from '../../intents/is-on-origin.js';
import { siteConfig } from '../site-config.js';
import { httpUrl, requireThat } from '../validation.js';

/**
 * The absolute address of a return page. `{{INTENT_ID}}` in the template becomes the id.
 * @throws {TypeError} unless its origin is the page's or one of the server's `returnOrigins`
 */
export function returnUrl(template: string, intentId = '', option = 'url'): string {
  // Only strings have `replaceAll`. `httpUrl` refuses undefined.
  const url = httpUrl(template.replaceAll?.('{{INTENT_ID}}', encodeURIComponent(intentId)), option);
  requireThat(
    isOnOrigin(url, [location.origin, ...siteConfig.returnOrigins]),
    option,
    'a URL of this site or of returnOrigins',
  );
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

/** Opens a page. @param onStay called if this page stays, because only its fragment changes, and when back navigation restores it */
export function leaveTo(url: string, onStay: () => void): void {
  addEventListener('pageshow', onStay, { once: true });
  location.assign(url);
  const [page, fragment] = url.split('#');
  if (fragment !== undefined && location.href.split('#')[0] === page) onStay();
}
