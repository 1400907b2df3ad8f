import { createHash } from 'node:crypto';
import type { Request } from 'express';
import type { core } from 'zod';
import { IntentError } from '../../errors.js';

/** The body of `POST /intent`. */
export interface IntentRequestBody {
  readonly mode?: 'payment' | 'login' | undefined;
  /** Identifies the purchase; the site's `payment` hook looks it up. */
  readonly order?: unknown;
  /** Only with the option `clientAmount`. */
  readonly amount?: string | number | undefined;
}

let schemas: Promise<typeof import('../request/body-schemas.js')> | undefined;

/** Loads the schemas of request bodies at first use. */
export function loadBodySchemas(): Promise<typeof import('../request/body-schemas.js')> {
  schemas ??= import('../request/body-schemas.js');
  return schemas;
}

/** Terms that a browser must not set. */
const termFields: readonly string[] = [
  'amount',
  'currency',
  'exact',
  'destination',
  'description',
  'resource',
  'metadata',
  'price',
  'login',
];

/** Parses the body of `POST /intent`. @throws {IntentError} for an unknown or invalid field */
export async function parseIntentRequest(
  body: unknown,
  { clientAmount }: { clientAmount: boolean },
): Promise<IntentRequestBody> {
  for (const field of typeof body === 'object' && body !== null ? Object.keys(body) : []) {
    if (!termFields.includes(field) || (clientAmount && field === 'amount')) continue;
    throw new IntentError('terms_not_accepted', `The server sets "${field}". Remove it from the request.`);
  }
  const { intentRequestSchema } = await loadBodySchemas();
  const result = intentRequestSchema.safeParse(body);
  if (result.success) return result.data;
  throw toIntentError(result.error.issues[0], clientAmount);
}

/** The error of a body with unknown fields. @param known the names of its fields */
export function unknownField({ keys: [name = ''] }: core.$ZodIssueUnrecognizedKeys, known: string[]): IntentError {
  const quote = (field: string): string => JSON.stringify(field.slice(0, 100));
  return new IntentError(
    'unknown_field',
    `Unknown field ${quote(name)}. Allowed fields: ${known.map(quote).join(', ')}.`,
  );
}

function toIntentError(issue: core.$ZodIssue | undefined, clientAmount: boolean): IntentError {
  if (issue?.code === 'unrecognized_keys') {
    return unknownField(issue, ['mode', 'order', ...(clientAmount ? ['amount'] : [])]);
  }
  const field = issue?.path.join('.') ?? '';
  if (field === 'mode') return new IntentError('not_supported', 'The mode must be "payment" or "login".');
  if (field === 'amount')
    return new IntentError(
      'invalid_amount',
      'Send "amount" as a decimal number or string with at most two decimal places, such as 12.5 or "12.50".',
    );
  const invalid = `The field "${field.slice(0, 100)}" is invalid. Send JSON nested at most 16 levels deep, without NUL characters, lone surrogates or numbers out of range.`;
  const what = field === '' ? 'The body must be a JSON object.' : invalid;
  return new IntentError('invalid_request', what);
}

/** 1 to 255 visible ASCII characters without quotes and backslashes. */
const unquotedKeyForm = /^[!#-[\]-~]{1,255}$/;
export const isUnquotedKey = (text: string): boolean => unquotedKeyForm.test(text);
/** A string of RFC 9651, section 3.3.3, in which a backslash precedes a quote or another backslash. */
const quotedKeyForm = /^"((?:[!#-[\]-~]|\\["\\])+)"$/;
const maxKeyLength = 255;

/**
 * The `Idempotency-Key` of a request (draft-ietf-httpapi-idempotency-key-header): quoted as in the draft, or unquoted as many
 * clients send it. Undefined without the header.
 * @throws {IntentError} `invalid_idempotency_key`
 */
export function parseIdempotencyKey({ headers }: Request): string | undefined {
  const header = headers['idempotency-key'];
  if (header === undefined) return undefined;
  // Node joins repeated headers with a comma and a space, which neither form allows.
  const text = String(header);
  const key = isUnquotedKey(text) ? text : quotedKeyForm.exec(text)?.[1]?.replace(/\\(.)/g, '$1');
  if (key !== undefined && key.length <= maxKeyLength) return key;
  throw new IntentError(
    'invalid_idempotency_key',
    'Send one Idempotency-Key of 1 to 255 visible ASCII characters. Quote it if it contains quotes or backslashes.',
  );
}

/** SHA-256 of a request, 32 bytes. The order of object members does not matter. */
export function fingerprintOf(mode: 'payment' | 'login', { order, amount }: IntentRequestBody): Uint8Array {
  return createHash('sha256').update(JSON.stringify({ mode, order, amount }, sortMembers)).digest();
}

function sortMembers(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
