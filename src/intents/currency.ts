import { IntentError } from '../errors.js';
import { currencyCodes } from './currency-codes.js';

const indexByCurrency = new Map(currencyCodes.map((currency, index) => [currency, index]));

/** The index of a currency in the payload, 0 to 255. @throws {IntentError} `unknown_currency` */
export function currencyIndex(currency: string): number {
  const index = indexByCurrency.get(currency);
  if (index === undefined) {
    throw new IntentError(
      'unknown_currency',
      'Unknown currency. Use a supported lowercase currency code, such as usd.',
    );
  }
  return index;
}

/** The currency at an index of the payload. @throws {IntentError} `unknown_currency` */
export function currencyAt(index: number): string {
  const currency = currencyCodes[index];
  if (currency === undefined)
    throw new IntentError(
      'unknown_currency',
      `The client secret has an unknown currency index, ${index}. Pass the client secret unchanged.`,
    );
  return currency;
}
