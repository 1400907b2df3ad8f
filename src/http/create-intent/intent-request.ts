import type * as zod from 'zod';
import { IntentError } from '../../errors.js';
import { isStorable } from './json-copy.js';

/** What a browser may ask for. Everything that makes the price is the server's, so nothing else gets through. */
export interface IntentRequestBody {
  readonly mode?: 'payment' | 'login' | undefined;
  /** Names what is bought; the site's `payment` hook looks it up. */
  readonly order?: unknown;
  /** Only where the site lets the browser choose the amount. */
  readonly amount?: string | number | undefined;
}

/** The schema of the body; zod is handed over by who has loaded it. */
export const intentRequestSchema = (z: typeof zod) =>
  z.strictObject({
    mode: z.enum(['payment', 'login']).optional(),
    order: z
      .unknown()
      .refine((order) => isKeepable(order))
      .optional()
      .describe('What is bought, which the site looks up: any JSON of at most 16 levels.'),
    amount: z.union([z.string(), z.number()]).optional().describe('A decimal number with at most two decimals.'),
  });
/** Made when it is first needed: zod takes longer to load than all of ours. */
let schema: Promise<ReturnType<typeof intentRequestSchema>> | undefined;

/** An order is a few words, or a short list of them. */
const maxOrderDepth = 16;

/**
 * Whether an order can be written down as it came: a site that puts it into the metadata is not to fail over what a
 * stranger has sent.
 */
function isKeepable(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return isStorable(value);
  // JSON has numbers that no number is: 1e999.
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === maxOrderDepth) return false;
  return Object.entries(value).every(([key, member]) => isStorable(key) && isKeepable(member, depth + 1));
}

/** Fields that say what is paid, and to whom. */
const terms: readonly string[] = ['amount', 'currency', 'destination', 'metadata', 'price', 'login'];

/**
 * Reads the body of `POST /intent`.
 * @throws {IntentError} `terms_not_accepted`, `unknown_field`, `not_supported`, `invalid_request`
 */
export async function parseIntentRequest(
  body: unknown,
  { clientAmount }: { clientAmount: boolean },
): Promise<IntentRequestBody> {
  const fields = typeof body === 'object' && body !== null ? Object.keys(body) : [];
  const refused = fields.find((field) => terms.includes(field) && !(clientAmount && field === 'amount'));
  if (refused !== undefined) {
    throw new IntentError('terms_not_accepted', `The field "${refused}" is set by the server and not by the browser.`);
  }
  schema ??= import('zod').then(intentRequestSchema);
  const result = (await schema).safeParse(body);
  if (result.success) return result.data;
  throw toIntentError(result.error.issues[0]);
}

function toIntentError(issue: zod.core.$ZodIssue | undefined): IntentError {
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
