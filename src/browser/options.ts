import { fromJson, toJson } from './built-ins.js';
import { decodeClientSecret, isPublicKey } from './flow/client-secret.js';
import { returnUrl } from './flow/return-url.js';
import { type ElementRoutes, siteBase, siteConfig } from './site-config.js';
import { negotiateTag } from './texts/button-texts.js';
import { httpUrl, requireThat } from './validation.js';

/** The options of a button, which are also properties. All but `expiresInMs`, `routes`, `base` and `login` are attributes. */
export interface ButtonOptions {
  /** Default `payment`; `login` if the option `login` is given. */
  mode?: 'payment' | 'login' | undefined;
  /** The order, any JSON. The server sets the price. The attribute is text, or JSON if it starts with `{` or `[`. */
  order?: unknown;
  /** Only if the site's visitors choose the amount: a decimal with at most two decimal places. */
  amount?: string | number | undefined;
  /** The displayed name of the payee or site. Default: the host name of the page. */
  payee?: string | undefined;
  /** Default `auto`: the system's preference. */
  appearance?: 'auto' | 'light' | 'dark' | undefined;
  /** BCP 47. Default: the `lang` around the element, then the languages of the browser. */
  locale?: string | undefined;
  /** The text of the button. */
  label?: string | undefined;
  /**
   * How long the code is shown, in milliseconds, at most 24 days. Default: 15 minutes for a payment, the server's limit for a
   * login.
   */
  expiresInMs?: number | undefined;
  /** The address of the wallet. Default: the server's. */
  walletUrl?: string | undefined;
  /**
   * The page to open after success: absolute or a path, on the page's own origin or one of the server's `returnOrigins`.
   * `{{INTENT_ID}}` becomes the id.
   */
  successUrl?: string | undefined;
  /** The page to open after cancel, like `successUrl`. */
  cancelUrl?: string | undefined;
  /** Paths of the routes, `false` for a disabled route. Default: the server's. */
  routes?: Partial<ElementRoutes> | undefined;
  /** The path the router is mounted under, such as `/shop`. Default: derived from the URL of elements.js; empty in a bundle. */
  base?: string | undefined;
  /**
   * With `mode: 'payment'`, set `{}` if the terms of the payment have `login: true`. The button then completes the login before
   * `success`. `clientSecret` has the effect of `update`. `verifier` is the public key of the login, whose form is checked: the
   * page cannot see the key inside an intent.
   */
  login?: { clientSecret?: string | undefined; verifier?: string | undefined } | undefined;
}

export type OptionName = keyof ButtonOptions;

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

export const optionNames = Object.keys(checks) as OptionName[];

/** The options that are also attributes, by the name of the attribute. */
const optionsByAttribute = {
  mode: 'mode',
  order: 'order',
  amount: 'amount',
  payee: 'payee',
  appearance: 'appearance',
  locale: 'locale',
  label: 'label',
  'wallet-url': 'walletUrl',
  'success-url': 'successUrl',
  'cancel-url': 'cancelUrl',
} as const satisfies Record<string, OptionName>;

export const attributeNames = Object.keys(optionsByAttribute);

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
export interface Settings {
  readonly mode: 'payment' | 'login';
  /** Whether the button completes a login of the router, which starts the session, before `success`. A payment can log its payer in too. */
  readonly completesLogin: boolean;
  /** The client secret in the option `login`. The router did not create this login, so it cannot create the next one either. */
  readonly ownSecret: string | undefined;
  readonly order: unknown;
  readonly amount: string | number | undefined;
  readonly payee: string;
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
    payee: location.hostname,
    ...siteConfig,
    ...given,
    mode,
    expiresInMs: Math.min(given.expiresInMs ?? (mode === 'login' ? siteConfig.loginTtlMs : paymentTtlMs), maxTtlMs),
    completesLogin: mode === 'login' || login,
    ownSecret: login?.clientSecret,
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
  for (const [attribute, name] of Object.entries(optionsByAttribute)) {
    const value = element.getAttribute(attribute);
    // An order such as 42 or 007 stays text.
    if (value !== null && options[name] === undefined)
      given[name] = name === 'order' && /^\s*[[{]/.test(value) ? fromJson(value) : value;
  }
  return given;
}
