import * as z from 'zod';
import { isStorable } from '../../ledger/to-json-clone.js';

// The schemas of request bodies. Import this module on demand: zod takes longer to load than the rest of this package.

const maxOrderDepth = 16;

/** Whether a database can store an order unchanged: the site may copy it into the metadata. */
function isStorableOrder(value: unknown, depth = 0): boolean {
  if (typeof value === 'string') return isStorable(value);
  // JSON allows numbers that a double cannot represent, such as 1e999.
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === maxOrderDepth) return false;
  return Object.entries(value).every(([key, member]) => isStorable(key) && isStorableOrder(member, depth + 1));
}

/** `POST /intent`. */
export const intentRequestSchema = z.strictObject({
  mode: z.enum(['payment', 'login']).optional(),
  order: z
    .unknown()
    .refine((order) => isStorableOrder(order))
    .optional()
    .describe('Identifies the purchase; the site looks it up. Any JSON value nested at most 16 levels deep.'),
  amount: z.union([z.string(), z.number()]).optional().describe('A decimal number with at most two decimal places.'),
});

/** `POST /session`. */
export const completionSchema = z.strictObject({
  id: z.string().describe('The id of the intent that this browser created.'),
});

/** `POST /session`, if the user must confirm the login. */
export const confirmedCompletionSchema = completionSchema.extend({ confirm: z.literal(true).optional() });
