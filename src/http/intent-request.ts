import * as z from 'zod';
import { IntentError } from '../errors.js';

/** What a browser may ask for. Everything that makes the price is the server's, so nothing else gets through. */
export interface IntentRequestBody {
  readonly mode?: 'payment' | 'login' | undefined;
  /** Names what is bought; the site's `payment` hook looks it up. */
  readonly order?: unknown;
  /** Only where the site lets the browser choose the amount. */
  readonly amount?: string | number | undefined;
}

const schema = z.strictObject({
  mode: z.enum(['payment', 'login']).optional(),
  // It came out of JSON.parse, so it is JSON; looking through it again would only recurse as deep as a stranger likes.
  order: z.unknown().optional(),
  amount: z.union([z.string(), z.number()]).optional(),
});

/** Fields that say what is paid, and to whom. */
const terms: readonly string[] = ['amount', 'currency', 'destination', 'metadata', 'price', 'login'];

/**
 * Reads the body of `POST /intent`.
 * @throws {IntentError} `terms_not_accepted`, `unknown_field`, `not_supported`, `invalid_request`
 */
export function parseIntentRequest(body: unknown, { clientAmount }: { clientAmount: boolean }): IntentRequestBody {
  const fields = typeof body === 'object' && body !== null ? Object.keys(body) : [];
  const refused = fields.find((field) => terms.includes(field) && !(clientAmount && field === 'amount'));
  if (refused !== undefined) {
    throw new IntentError('terms_not_accepted', `The field "${refused}" is set by the server and not by the browser.`);
  }
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw toIntentError(result.error.issues[0]);
}

function toIntentError(issue: z.core.$ZodIssue | undefined): IntentError {
  if (issue?.code === 'unrecognized_keys') {
    return new IntentError('unknown_field', 'The body may have the fields "mode" and "order", and no other.');
  }
  const field = issue?.path.join('.') ?? '';
  if (field === 'mode') return new IntentError('not_supported', 'The mode must be "payment" or "login".');
  if (field === 'amount') return new IntentError('invalid_amount');
  const what =
    field === '' ? 'The body must be a JSON object.' : `The field "${field.slice(0, 100)}" is not of the right form.`;
  return new IntentError('invalid_request', what);
}
