import { fromJson, toJson } from './built-ins.js';
import { attributeOf, type ButtonOptions, isJsonOrder, type OptionName, optionNames } from './button-options.js';
import { decodeClientSecret, isPublicKey } from './flow/client-secret.js';
import { returnUrl } from './flow/return-url.js';
import { type ElementRoutes, type SiteConfig, siteBase, siteConfig } from './site-config.js';
import { negotiateTag } from './texts/button-texts.js';
import { httpUrl, requireThat } from './validation.js';

type Check = (value: never, name: string) => unknown;

/** By name: a function that checks the value, an object with the checks of its fields, or anything else if it is not checked. */
interface Checks {
  readonly [name: string]: Check | Checks | string | false;
}

const text = (value: unknown, name: string): void => requireThat(typeof value === 'string', name, 'a string');
const like =
  (pattern: RegExp, form: string) =>
  (value: string, name: string): void =>
    requireThat(pattern.test(value), name, form);
// An empty attribute counts as not set. A bundle does not know the returnOrigins of the site yet.
const address = (value: string, name: string): unknown => value && !siteConfig.load && returnUrl(value, '', name);

const checks = {
  mode: like(/^(payment|login)$/, 'payment or login'),
  order: false,
  amount: like(/^\d+(\.\d\d?)?$/, 'a decimal such as 12.50'),
  payee: text,
  appearance: like(/^(auto|light|dark)$/, 'auto, light or dark'),
  locale: text,
  label: text,
  walletUrl: httpUrl,
  successUrl: address,
  cancelUrl: address,
  expiresInMs: like(/^[1-9][\d.]*$/, 'a number of at least 1'),
  // Only the names of the routes are used, as the allowed fields. Their paths do not check anything.
  routes: siteConfig.routes as never,
  base: text,
  login: {
    // Its kind is checked when it is used, because `mode` may be set later.
    clientSecret: (value) => decodeClientSecret(value),
    verifier: (value, name) => requireThat(isPublicKey(value), name, 'a public key, Base58 of 32 bytes'),
  },
} satisfies Record<OptionName, Check | Checks | false>;

/** @throws {TypeError} for an unknown option or field, and for a value of the wrong form */
export function checkOptions(options: object, known: Checks = checks): void {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(known, name))
      throw new TypeError(`Unknown option ${name}. Valid options: ${Object.keys(known).join(', ')}.`);
    const check = value !== undefined && known[name];
    if (typeof check === 'function') check(value as never, name);
    else if (typeof check === 'object') {
      requireThat(value && typeof value === 'object', name, 'an object');
      checkOptions(value, check);
    }
  }
}

/** How long the code of a payment is shown, in milliseconds. */
const paymentTtlMs = 15 * 60_000;

/** Timers of browsers are limited to 2^31 ms: a longer one fires at once. This leaves time for the watch after the expiry. */
const maxTtlMs = 24 * 86_400_000;

/** The resolved options: properties first, then attributes, then the page's and the server's defaults. */
export interface Settings extends Pick<SiteConfig, 'css' | 'dialog'> {
  readonly mode: 'payment' | 'login';
  /** Whether the button completes a login of the router, which starts the session, before `success`. A payment can log its payer in too. */
  readonly completesLogin: boolean;
  /** With a client secret, a login that the router did not create: it cannot create the next one either. */
  readonly login: ButtonOptions['login'];
  readonly order: unknown;
  readonly amount: string | number | undefined;
  readonly payee: string | undefined;
  readonly label: string | undefined;
  readonly expiresInMs: number;
  readonly walletUrl: string | undefined;
  readonly routes: ElementRoutes;
  /** Templates of the return addresses; empty or undefined if the button does not redirect. */
  readonly urls: { readonly success: string | undefined; readonly cancel: string | undefined };
  /** BCP 47, of a supported language: always the current one, like `label`. */
  readonly locale: string;
  /** The body of the request that creates the intent. */
  readonly orderJson: string;
  /** Identifies the order among those of all routers of this origin, also after a reload. */
  readonly orderKey: string;
}

/** @throws {TypeError} for an attribute of the wrong form @throws {SyntaxError} for an order that is not JSON */
export function resolveSettings(
  element: HTMLElement,
  options: ButtonOptions,
  contentText: () => string = () => '',
): Settings {
  const given: ButtonOptions = { __proto__: null, ...attributesOf(element, options), ...options } as ButtonOptions;
  checkOptions(given);
  const { login, mode = login ? 'login' : 'payment', order, amount, base = siteBase } = given;
  const paths = Object.entries({ ...siteConfig.routes, ...given.routes });
  // Not relative to the page, whose `<base>` can be another origin.
  const routes = Object.fromEntries(
    paths.map(([name, path]) => [name, path && new URL(base + path, location.origin).href]),
  );
  const orderJson = toJson({ mode, order, amount }) as string;
  return {
    __proto__: null,
    ...siteConfig,
    ...given,
    mode,
    expiresInMs: Math.min(given.expiresInMs ?? (mode === 'login' ? siteConfig.loginTtlMs : paymentTtlMs), maxTtlMs),
    completesLogin: mode === 'login' || login,
    routes,
    urls: { success: given.successUrl, cancel: given.cancelUrl },
    get label() {
      return contentText() || (options.label ?? element.getAttribute('label'));
    },
    get locale() {
      const given = options.locale ?? element.getAttribute('locale');
      return negotiateTag([given, langAround(element), ...navigator.languages]);
    },
    orderJson,
    orderKey: `intent-button ${routes.intent || base} ${orderJson}`,
  } as unknown as Settings;
}

/** The nearest language, also of the hosts of the shadow trees around the element. */
function langAround(element: Element): string | undefined {
  const nearest = element.closest('[lang]');
  if (nearest) return nearest.getAttribute('lang') as string;
  const { host } = element.getRootNode() as ShadowRoot;
  return host && langAround(host);
}

/** Attributes that no property replaces: servers render the order of a Svelte page as `[object Object]`. */
function attributesOf(element: HTMLElement, options: ButtonOptions): ButtonOptions {
  // No prototype: a polluted Object.prototype must not choose a route or a wallet.
  const given: Record<string, unknown> = { __proto__: null };
  for (const name of optionNames) {
    const attribute = attributeOf(name);
    const value = attribute && options[name] === undefined ? element.getAttribute(attribute) : null;
    if (value !== null) given[name] = name === 'order' && isJsonOrder(value) ? fromJson(value) : value;
  }
  return given;
}
