import { currencyCodes, nativeCurrency } from '../intents/currency-codes.js';
import { readNumber } from './base58.js';

// The first number a page formats takes tens of milliseconds. They pass here, while the server is asked.
new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' }).format(0);

/**
 * The amount in the payload of a payment (protocol section 2), as people of a locale write it.
 * @throws {TypeError} for a currency that there is not
 */
export function amountIn(payload: Uint8Array, locale: string): string {
  const currency = currencyCodes[payload[1] as number];
  if (!currency) throw new TypeError('There is no such currency');
  // Bytes 2 to 8, the lowest first.
  const hundredths = readNumber(payload.slice(2, 9).reverse());
  const decimal = String(hundredths).padStart(3, '0').replace(/(..)$/, '.$1');
  return formatAmount(decimal, currency, locale);
}

/**
 * Never rounded: a currency without small change still shows its hundredths.
 * @param amount decimal string with two decimals
 * @param currency lowercase three-letter code
 */
export function formatAmount(amount: string, currency: string, locale: string): string {
  const code = currency.toUpperCase();
  // A text goes in exactly where the browser can do that, and as the nearest double elsewhere.
  const value = amount as unknown as number;
  const atLeast = amount.endsWith('.00') ? 0 : 2;
  // ISO 4217 does not know the native unit, so neither does the browser.
  if (currency === nativeCurrency) {
    return `${new Intl.NumberFormat(locale, { minimumFractionDigits: atLeast }).format(value)} ${code}`;
  }
  const options = { style: 'currency', currency: code } as const;
  const { minimumFractionDigits: usual = 2 } = new Intl.NumberFormat(locale, options).resolvedOptions();
  return new Intl.NumberFormat(locale, { ...options, minimumFractionDigits: Math.max(atLeast, usual) }).format(value);
}
