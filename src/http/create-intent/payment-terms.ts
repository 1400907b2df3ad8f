import type { Request } from 'express';
import type { Config } from '../../config/config.js';
import { ConfigError, IntentError, messageOf } from '../../errors.js';
import { currencyIndex } from '../../intents/currency.js';
import { nativeCurrency } from '../../intents/currency-codes.js';
import { type ExactTerms, parseExact, type RecordedExact } from '../../intents/exact-terms.js';
import { formatAmount, type Money, parseHundredths, parseMoney } from '../../intents/money.js';
import { normalizeAccount } from '../../keys/base58.js';
import type { RecordedTerms } from '../../ledger/ledger.js';
import { isStorable, toJsonClone } from '../../ledger/to-json-clone.js';
import { problemsOfOptions, requireKnown } from '../../reject-unknown.js';
import { runHook } from '../hook-errors.js';
import type { ClientAmount, Hooks, SitePaymentTerms } from '../hooks.js';
import type { IntentRequestBody } from './intent-request.js';

/** Calls the site's hook for the terms of a payment. With `clientAmount` the browser chooses the amount. */
export type TermsResolver = (req: Request, body: IntentRequestBody, config: TermsConfig) => Promise<RecordedTerms>;

type TermsConfig = Pick<Config, 'destination'>;

/** The resolver for the hooks of a site; undefined without payments. @throws {ConfigError} if `clientAmount` is not a range */
export function createTermsResolver({ payment, clientAmount }: Hooks): TermsResolver | undefined {
  if (!clientAmount) {
    if (!payment) return undefined;
    return async (req, _body, config) =>
      normalizeTerms(requireTerms(await runHook(hookName, () => payment(req))), config);
  }
  const range = parseRange(clientAmount);
  return async (req, { amount }, config) => {
    if (amount === undefined) throw new IntentError('invalid_amount', 'Send the field "amount".');
    requireInRange(amount, range);
    const terms = await runHook(hookName, () => payment?.(req));
    requireKnown(hookName, terms, termNames, 'invalid_terms');
    if (terms?.exact !== undefined) {
      throw new IntentError('invalid_terms', '`exact` fixes the amount. Omit it, or do not set `clientAmount`.');
    }
    return normalizeTerms({ ...terms, amount, currency: clientAmount.currency }, config);
  };
}

const hookName = 'the payment hook';
export const termNames = [
  'amount',
  'currency',
  'exact',
  'destination',
  'description',
  'login',
  'resource',
  'metadata',
] as const;

function requireTerms(terms: unknown): SitePaymentTerms {
  if (typeof terms === 'object' && terms !== null && 'amount' in terms && 'currency' in terms) {
    requireKnown(hookName, terms, termNames, 'invalid_terms');
    return terms as SitePaymentTerms;
  }
  throw new IntentError('invalid_terms', 'The hook `payment` must return { amount, currency }.');
}

interface Range {
  readonly min: Money;
  readonly max: Money;
}

function parseRange(clientAmount: ClientAmount): Range {
  const unknown = problemsOfOptions('clientAmount', clientAmount, ['min', 'max', 'currency']);
  if (unknown.length > 0) throw new ConfigError(unknown);
  const { min, max, currency } = clientAmount;
  requireCurrency(currency);
  const range = { min: parseLimit('min', min, currency), max: parseLimit('max', max, currency) };
  if (range.min.hundredths <= range.max.hundredths) return range;
  throw invalidRange('min is greater than max.');
}

function requireCurrency(currency: string): void {
  try {
    currencyIndex(currency);
  } catch (error) {
    throw invalidRange(messageOf(error));
  }
}

function parseLimit(name: 'min' | 'max', amount: string | number, currency: string): Money {
  try {
    return parseMoney(amount, currency);
  } catch (error) {
    throw invalidRange(`\`${name}\` is not a valid amount. ${messageOf(error)}`);
  }
}

function invalidRange(problem: string): ConfigError {
  return new ConfigError([
    { setting: 'clientAmount', problem, fix: "clientAmount: { min: 1, max: 100, currency: 'usd' }" },
  ]);
}

/** The range lies within the limits of a payment, so only the range is reported. */
function requireInRange(amount: string | number, { min, max }: Range): void {
  const hundredths = parseHundredths(amount);
  if (hundredths < min.hundredths) {
    throw new IntentError('amount_too_small', `The minimum is ${formatAmount(min)} ${min.currency}.`);
  }
  if (hundredths > max.hundredths) {
    throw new IntentError('amount_too_large', `The maximum is ${formatAmount(max)} ${max.currency}.`);
  }
}

const maxMetadataBytes = 16 * 1024;
const maxResourceLength = 200;

/**
 * The terms of a payment as the ledger records them: the amount with two decimal places, the metadata as JSON. The site sets
 * the terms, so an error in them is a server error. If the browser chose the amount, its range has already been checked.
 * @throws {IntentError} `invalid_terms`, with the field
 */
export function normalizeTerms(terms: SitePaymentTerms, config: TermsConfig): RecordedTerms {
  const { currency, destination = config.destination, description, metadata, login = false, resource } = terms;
  const money = parseTermsMoney(terms);
  if (destination === undefined) {
    throw new IntentError(
      'invalid_terms',
      'The payment has no destination. Set INTENT_DESTINATION, or `destination` in the terms.',
    );
  }
  return {
    amount: formatAmount(money),
    currency,
    exact: terms.exact === undefined ? undefined : parseTerm('exact', () => toRecordedExact(terms.exact, money)),
    destination: parseTerm('destination', () => normalizeAccount(destination)),
    description:
      description === undefined ? undefined : parseTerm('description', () => requireDescription(description)),
    login: Boolean(login),
    resource: resource === undefined ? undefined : parseTerm('resource', () => requireResource(resource)),
    metadata: metadata === undefined ? {} : parseTerm('metadata', () => parseMetadata(metadata)),
  };
}

/** @throws {IntentError} `invalid_terms`, with the value, which is not secret */
function parseTermsMoney({ amount, currency }: SitePaymentTerms): Money {
  try {
    return parseMoney(amount, currency);
  } catch (error) {
    const isCurrency = error instanceof IntentError && error.code === 'unknown_currency';
    throw invalidTerm(isCurrency ? `currency (${formatForLog(currency)})` : `amount (${formatForLog(amount)})`, error);
  }
}

function toRecordedExact(terms: ExactTerms | undefined, money: Money): RecordedExact | undefined {
  const rate = parseExact(terms, money);
  // In the native currency every payment has this rate, so stating it changes nothing.
  if (!rate || money.currency === nativeCurrency) return undefined;
  return { exchangeRate: rate.exchangeRate, quarks: String(rate.quarks) };
}

function parseTerm<Value>(field: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    throw invalidTerm(field, error);
  }
}

function invalidTerm(field: string, error: unknown): IntentError {
  return new IntentError('invalid_terms', `Invalid ${field} in the terms. ${messageOf(error)}`);
}

/** A value of any type, for the log. */
function formatForLog(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 40)) : typeof value;
}

/** One line without characters that control the text direction: they could reorder the text around it in the dialog. */
const descriptionForm = /^[^\p{Cc}\p{Surrogate}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,100}$/u;

function requireDescription(description: unknown): string {
  if (typeof description === 'string' && descriptionForm.test(description) && description.trim() !== '') {
    return description;
  }
  throw new IntentError(
    'invalid_configuration',
    'The description of a payment must be one line of 1 to 100 characters, not only spaces. Remove control characters and text direction marks.',
  );
}

export function isResource(resource: unknown): resource is string {
  if (typeof resource !== 'string' || !isStorable(resource)) return false;
  return resource.length >= 1 && resource.length <= maxResourceLength;
}

export function requireResource(resource: unknown): string {
  if (isResource(resource)) return resource;
  const message = `The resource of a payment must be a string of 1 to ${maxResourceLength} characters, without NUL or lone surrogates.`;
  throw new IntentError('invalid_configuration', message);
}

function parseMetadata(metadata: unknown): Readonly<Record<string, unknown>> {
  const clone = toJsonClone(metadata, 'metadata');
  if (typeof clone !== 'object' || clone === null || Array.isArray(clone)) {
    throw new IntentError(
      'invalid_configuration',
      'The metadata of a payment must be an object, such as { order: 42 }.',
    );
  }
  requireDefined(metadata, 'metadata');
  const size = Buffer.byteLength(JSON.stringify(clone));
  if (size <= maxMetadataBytes) return clone as Record<string, unknown>;
  const message = `The metadata of a payment is ${size} bytes as JSON. The limit is ${maxMetadataBytes}. Keep the rest in a table of the site.`;
  throw new IntentError('invalid_configuration', message);
}

/** Rejects undefined members, which the clone omits: otherwise a hook finds them missing only after the payment. */
function requireDefined(value: unknown, path: string): void {
  if (value === undefined)
    throw new IntentError('invalid_configuration', `${path} is undefined. Set a value, or omit it.`);
  if (typeof value !== 'object' || value === null) return;
  const isList = Array.isArray(value);
  for (const [name, member] of Object.entries(value))
    requireDefined(member, isList ? `${path}[${name}]` : `${path}.${name}`);
}
