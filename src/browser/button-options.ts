import type { ElementRoutes } from './site-config.js';

/** The options of a button, which are also properties. All but `expiresInMs`, `routes`, `base` and `login` are attributes. */
export interface ButtonOptions {
  /** Default `payment`; `login` if the option `login` is given. */
  mode?: 'payment' | 'login' | undefined;
  /** The order, any JSON. The server sets the price. The attribute is text, or JSON if it starts with `{` or `[`. */
  order?: unknown;
  /** Only if the site's visitors choose the amount: a decimal with at most two decimal places. */
  amount?: string | number | undefined;
  /** The displayed name of the payee or site. Default: the name that the server has for the site, then the host name of the page. */
  payee?: string | undefined;
  /** Default `auto`: the `color-scheme` of the page around the element. */
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

export const optionNames: readonly OptionName[] = [
  ...(['mode', 'order', 'amount', 'payee', 'appearance', 'locale', 'label'] as const),
  ...(['walletUrl', 'successUrl', 'cancelUrl', 'expiresInMs', 'routes', 'base', 'login'] as const),
];

/** The attribute of an option, such as `wallet-url`; empty for an option that is only a property. */
export const attributeOf = (name: OptionName): string =>
  /^(expiresInMs|routes|base|login)$/.test(name) ? '' : name.replace('Url', '-url');

/** Whether an attribute holds an order as JSON. Other orders, such as 42 or 007, are text. */
export const isJsonOrder = (text: string): boolean => /^\s*[[{]/.test(text);
