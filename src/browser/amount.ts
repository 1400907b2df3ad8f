import { currencyCodes, nativeCurrency } from '../intents/currency-codes.js';
import { readNumber } from './base58.js';

/**
 * The amount in the payload of a payment (protocol section 2), as people of a locale write it.
 * @throws {TypeError} for a currency that there is not
 */
export function amountIn(payload: Uint8Array, locale: string): string {
  // Where there is none, the browser refuses to format it.
  const currency = currencyCodes[payload[1] as number] as string;
  // Bytes 2 to 8, the lowest first.
  const hundredths = readNumber(payload.slice(2, 9).reverse());
  const decimal = String(hundredths).padStart(3, '0').replace(/..$/, '.$&');
  return formatAmount(decimal, currency, locale);
}

/**
 * Never rounded: a currency without small change still shows its hundredths.
 * @param amount decimal string with two decimals
 * @param currency lowercase three-letter code
 */
export function formatAmount(amount: string, currency: string, locale: string): string {
  const isNative = currency === nativeCurrency;
  const options: Intl.NumberFormatOptions = isNative ? {} : { style: 'currency', currency };
  // A text goes in exactly where the browser can do that, and as the nearest double elsewhere.
  const write = (more?: object): string =>
    new Intl.NumberFormat(locale, { ...options, ...more }).format(amount as `${number}`);
  const usual = write();
  const exact = write({ minimumFractionDigits: 2 });
  const number = amount.endsWith('.00') || usual.length > exact.length ? usual : exact;
  // ISO 4217 does not know the native unit, so neither does the browser.
  return isNative ? `${number} KIN` : number;
}
