/** Where a person goes after success or cancel. `{{INTENT_ID}}` in it becomes the id. */
export interface ReturnAddress {
  readonly url: string;
}

/**
 * The absolute address to go to.
 * @throws {TypeError} unless it is an http or https address, alone or resolved against the page
 */
export function returnUrl(template: string, intentId: string, base: string): string {
  const text = template.replaceAll('{{INTENT_ID}}', encodeURIComponent(intentId));
  return httpUrl(text, base, 'url');
}

/** @throws {TypeError} for what is no address, and for schemes such as `javascript:` */
export function httpUrl(text: string, base: string, what: string): string {
  try {
    const { protocol, href } = new URL(text, base);
    if (/^https?:$/.test(protocol)) return href;
  } catch {}
  throw new TypeError(`${what} must be an http or https address`);
}

/**
 * The address that opens the wallet. The secret is in the fragment, which browsers send to no server.
 * @param back where the wallet goes on to when it is on this very device
 */
export function walletLink(
  walletUrl: string,
  clientSecret: string,
  back: Readonly<Record<string, string>> = {},
): string {
  const parts = Object.entries(back).map(([name, url]) => `&${name}=${encodeURIComponent(url)}`);
  return `${walletUrl}#${clientSecret}${parts.join('')}`;
}
