/**
 * The text of an error for the database and events: at most 1000 characters, without NUL. Hooks can throw any value, even one that
 * throws when it is read.
 */
export function errorText(error: unknown): string {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return text.replaceAll('\0', '').slice(0, 1_000);
  } catch {
    return 'Unknown error: it cannot be read.';
  }
}
