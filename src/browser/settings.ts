import { negotiateTag } from './locale.js';
import { attributeNames, type ButtonOptions, checkOption } from './options.js';
import type { ReturnAddress } from './return-url.js';
import { type ElementRoutes, loginTtlMs, siteBase, siteRoutes, siteWalletUrl } from './site-config.js';

/** How long a payment's code is shown, in milliseconds. */
const paymentTtlMs = 15 * 60_000;

/** What options, attributes, page and server come to. */
export interface Settings {
  readonly mode: 'payment' | 'login';
  /** Whether success also completes the session; a payment can log its payer in as well. */
  readonly completesLogin: boolean;
  readonly order: unknown;
  readonly amount: string | number | undefined;
  readonly payee: string;
  readonly label: string | undefined;
  readonly expiresInMs: number;
  readonly walletUrl: string | undefined;
  readonly routes: ElementRoutes;
  /** Templates of the addresses to go on to; empty or missing where the page stays. */
  readonly urls: { readonly success: string | undefined; readonly cancel: string | undefined };
  /** BCP 47, of a language there are texts in. */
  readonly locale: string;
  /** What is bought or entered, as the server is asked for it: the same after a reload. */
  readonly what: string;
}

/** @throws {TypeError} for an attribute of a form it cannot have */
export function readSettings(element: HTMLElement, options: ButtonOptions): Settings {
  const given: ButtonOptions = Object.assign(attributesOf(element), options);
  for (const [name, value] of Object.entries(given)) checkOption(name, value);
  const { login, mode = login ? 'login' : 'payment', order, amount, base = siteBase, routes } = given;
  const { success, cancel } = given.confirmParams ?? {};
  const lang = element.closest<HTMLElement>('[lang]')?.lang;
  return {
    __proto__: null,
    payee: location.hostname,
    expiresInMs: mode === 'login' ? loginTtlMs : paymentTtlMs,
    walletUrl: siteWalletUrl,
    ...given,
    mode,
    completesLogin: mode === 'login' || !!login,
    routes: withBase(base, { ...siteRoutes, ...routes }),
    urls: { success: success?.url, cancel: cancel?.url },
    locale: negotiateTag([given.locale, lang, ...navigator.languages]),
    // The price is the server's business, so this says what is bought and nothing else.
    what: JSON.stringify({ mode, order, amount }),
  } as Settings;
}

function attributesOf(element: HTMLElement): ButtonOptions {
  const address = (name: string): ReturnAddress => ({ url: element.getAttribute(`${name}-url`) ?? '' });
  // Without a prototype, so that what another script has put on Object.prototype chooses no route and no wallet.
  const given: Record<string, unknown> = {
    __proto__: null,
    confirmParams: { success: address('success'), cancel: address('cancel') },
  };
  for (const name of attributeNames) {
    const value = element.getAttribute(name.replace('U', '-u'));
    if (value !== null) given[name] = value;
  }
  return given;
}

function withBase(base: string, routes: ElementRoutes): ElementRoutes {
  // It has the names of what went in.
  return Object.fromEntries(Object.entries(routes).map(([name, path]) => [name, path && base + path])) as ElementRoutes;
}
