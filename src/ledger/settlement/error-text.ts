// Hooks can throw any value, even one that throws when it is read.

/** The text of an error for the database and events: at most 1000 characters, without NUL. */
export function errorText(error: unknown): string {
  try {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return text.replaceAll('\0', '').slice(0, 1_000);
  } catch {
    return 'An error that cannot be read.';
  }
}

export function errorDetails(error: unknown): Record<string, unknown> {
  try {
    return error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) };
  } catch {
    return { message: errorText(error) };
  }
}
