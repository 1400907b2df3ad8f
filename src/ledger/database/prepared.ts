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
 * The name under which a connection keeps a statement. It depends on the text: processes of two versions can share a connection.
 * Undefined for any statement that is not marked, such as those of the site.
 */
export const nameOfPrepared = (text: string): string | undefined => names.get(text);
