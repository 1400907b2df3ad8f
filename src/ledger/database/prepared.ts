import { createHash } from 'node:crypto';

const names = new Map<string, string>();

/**
 * Marks a frequent statement of the ledger. Postgres then parses and plans it once for each connection, not for each call. There
 * must be few of these texts, so values belong into parameters.
 * @returns the text
 */
export function prepared(text: string): string {
  if (!names.has(text)) names.set(text, `ei_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`);
  return text;
}

/**
 * A parameter whose value the planner does not see. Postgres keeps the plan of a statement only if the plans for known values cost
 * no less. For the length of an array or a limit they would, and it would plan each call again.
 */
export const hidden = (parameter: string): string => `(select ${parameter})`;

/**
 * The name under which a connection keeps a statement. It depends on the text: processes of two versions can share a connection.
 * Undefined for any statement that is not marked, such as those of the site.
 */
export const nameOfPrepared = (text: string): string | undefined => names.get(text);
