import type { Config } from '../../config/config.js';
import { IntentError } from '../../errors.js';
import { formatAmount, parseMoney } from '../../intents/money.js';
import { parseAccount } from '../../keys/base58.js';
import type { RecordedTerms } from '../../ledger/ledger.js';
import type { SitePaymentTerms } from '../hooks.js';
import { isStorable, jsonCopy } from './json-copy.js';

const maxMetadataBytes = 16 * 1024;
const maxResourceLength = 200;

/**
 * The terms of a payment as they are written down, checked: the amount in its one spelling, the notes as JSON.
 * @throws {IntentError} `invalid_amount`, `amount_too_small`, `amount_too_large`, `unknown_currency`, `invalid_account`;
 *   `invalid_configuration` for what cannot be kept
 */
export function recordedTerms(terms: SitePaymentTerms, config: Pick<Config, 'destination'>): RecordedTerms {
  const { amount, currency, destination = config.destination, metadata = {}, login = false, resource } = terms;
  if (destination === undefined) {
    throw new IntentError(
      'invalid_configuration',
      'No account to pay to: set INTENT_DESTINATION, or return destination.',
    );
  }
  parseAccount(destination);
  return {
    amount: formatAmount(parseMoney(amount, currency)),
    ...{ currency, destination, login: Boolean(login) },
    resource: resource === undefined ? undefined : requireResource(resource),
    metadata: parseMetadata(metadata),
  };
}

/** Whether a payment can be for this. */
export function isResource(resource: unknown): resource is string {
  if (typeof resource !== 'string' || !isStorable(resource)) return false;
  return resource.length >= 1 && resource.length <= maxResourceLength;
}

/** @throws {IntentError} `invalid_configuration` */
export function requireResource(resource: unknown): string {
  if (isResource(resource)) return resource;
  const message = `The resource of a payment must be a text of 1 to ${maxResourceLength} characters.`;
  throw new IntentError('invalid_configuration', message);
}

function parseMetadata(metadata: unknown): Readonly<Record<string, unknown>> {
  const copy = jsonCopy(metadata, 'metadata');
  if (typeof copy !== 'object' || copy === null || Array.isArray(copy)) {
    throw new IntentError('invalid_configuration', 'The metadata of a payment must be an object.');
  }
  const size = Buffer.byteLength(JSON.stringify(copy));
  if (size <= maxMetadataBytes) return copy as Record<string, unknown>;
  const message = `The metadata of a payment has ${size} bytes as JSON, and may have ${maxMetadataBytes}.`;
  throw new IntentError('invalid_configuration', message);
}
