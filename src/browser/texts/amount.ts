import { currencyCodes, nativeCurrency } from '../../intents/currency-codes.js';
import { readNumber } from '../flow/client-secret.js';

/** The amount in a payment's payload (protocol section 2), formatted for a locale. @throws {TypeError} for an unknown currency */
export function amountIn(payload: Uint8Array, locale: string): string {
  // `Intl` throws for undefined.
  const currency = currencyCodes[payload[1] as number] as string;
  // Bytes 2 to 8, little endian.
  const hundredths = readNumber(payload.slice(2, 9).reverse());
  const decimal = String(hundredths).padStart(3, '0').replace(/..$/, '.$&');
  return localizeAmount(decimal, currency, locale);
}

const unit = String.raw`(?:\b[A-Z]{3}\b|[A-Z]{0,3}\p{Sc}|円)`;
const number = String.raw`\d(?:[.,'’\u00a0\u202f]?\d)*`;
const amount = new RegExp(`${unit}\\s?${number}|${number}\\s?${unit}`, 'u');

/**
 * The amount in the text of a button, as it is written. Undefined if the text has another number, or a letter directly after the amount:
 * then it may be another one.
 */
export function amountInLabel(label: string): string | undefined {
  const [found = ''] = amount.exec(label) ?? [];
  const [before = '', after = ''] = label.trim().split(found);
  // Three letters can be another word.
  const code = /[A-Z]{3}/.exec(found)?.[0].toLowerCase();
  const isWord = code && !currencyCodes.includes(code);
  return isWord || /\d/.test(before + after) || /^[a-z]/i.test(after) ? undefined : found || undefined;
}

/** Never rounds: a currency without a minor unit still shows its hundredths. @param amount with two decimal places */
export function localizeAmount(amount: string, currency: string, locale: string): string {
  const isNative = currency === nativeCurrency;
  const options: Intl.NumberFormatOptions = isNative ? {} : { style: 'currency', currency };
  // Browsers format a decimal string exactly, older ones as the nearest double.
  const format = (more?: object): string =>
    new Intl.NumberFormat(locale, { ...options, ...more }).format(amount as `${number}`);
  const usual = format();
  const exact = format({ minimumFractionDigits: 2 });
  const number = amount.endsWith('.00') || usual.length > exact.length ? usual : exact;
  // `Intl` does not know the native unit, which is not in ISO 4217.
  return isNative ? `${number} KIN` : number;
}
