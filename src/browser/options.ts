import { requireThat } from './require-that.js';
import { httpUrl, type ReturnAddress, returnUrl } from './return-url.js';
import type { ElementRoutes } from './site-config.js';

/** What a button can be told. Each is also a property of the element, and most have an attribute. */
export interface ButtonOptions {
  /** Default `payment`; `login` where the option `login` is given. */
  mode?: 'payment' | 'login' | undefined;
  /** What is bought: any JSON. The server looks up what it costs. */
  order?: unknown;
  /** Only where the site lets its visitors choose the amount: a decimal with at most two decimals. */
  amount?: string | number | undefined;
  /** Who is paid or entered, as people know it. Default: the host name of the page. */
  payee?: string | undefined;
  /** Default `auto`: as the system has it. */
  appearance?: 'auto' | 'light' | 'dark' | undefined;
  /** BCP 47. Default: the `lang` around the element, then the languages of the browser. */
  locale?: string | undefined;
  /** What the button says. */
  label?: string | undefined;
  /** How long the code is shown, in milliseconds. Default: 15 minutes for a payment, as long as the server waits for a login. */
  expiresInMs?: number | undefined;
  /** Where the wallet is. Default: what the server says. */
  walletUrl?: string | undefined;
  /** Paths of the routes, `false` for one that is switched off. Default: what the server says. */
  routes?: Partial<ElementRoutes> | undefined;
  /** The path the router is mounted under, such as `/shop`. Default: where this file was loaded from. */
  base?: string | undefined;
  /** Where to go after success and cancel; `{{INTENT_ID}}` becomes the id. */
  confirmParams?: { success?: ReturnAddress | undefined; cancel?: ReturnAddress | undefined } | undefined;
  /** Logs the person in: success also completes the session. The server signs, so the verifier is not needed here. */
  login?: { clientSecret?: string | undefined; verifier?: string | undefined } | undefined;
}

export type OptionName = keyof ButtonOptions;

/** What each must look like, or be by `typeof`; an order is any JSON. The first eight have an attribute too. */
const forms: Readonly<Record<OptionName, RegExp | 'string' | 'object' | ''>> = {
  mode: /^(payment|login)$/,
  order: '',
  amount: /^\d+(\.\d\d?)?$/,
  payee: 'string',
  appearance: /^(auto|light|dark)$/,
  locale: 'string',
  label: 'string',
  walletUrl: 'string',
  expiresInMs: /^[1-9][\d.]*$/,
  routes: 'object',
  base: 'string',
  confirmParams: 'object',
  login: 'object',
};

export const optionNames = Object.keys(forms) as OptionName[];

/** Written in lower case, with a dash. */
export const attributeNames = optionNames.slice(0, 8);

/** @throws {TypeError} for an option that there is not, or of a form it cannot have */
export function checkOption(name: string, value: unknown): void {
  requireThat(optionNames.includes(name as OptionName), `option ${name}`, `one of ${optionNames}`);
  const form = forms[name as OptionName];
  if (value === undefined || !form) return;
  requireThat(typeof form === 'string' ? typeof value === form : form.test(value as string), `option ${name}`, form);
  if (name === 'walletUrl') httpUrl(value as string, name);
  if (name !== 'confirmParams') return;
  for (const address of Object.values(value as Record<string, ReturnAddress | undefined>)) {
    if (address?.url) returnUrl(address.url);
  }
}
