/**
 * What is kept of an error: enough to know it again, and nothing that a database does not take. Anything can be thrown,
 * also what itself throws when it is looked at.
 */
export function errorText(error: unknown): string {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return text.replaceAll('\0', '').slice(0, 1_000);
  } catch {
    return 'An error that cannot be read.';
  }
}

/** What the log is told of an error. */
export function errorDetails(error: unknown): Record<string, unknown> {
  try {
    return error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) };
  } catch {
    return { message: errorText(error) };
  }
}
