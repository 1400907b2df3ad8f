interface ErrorDetails {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly status?: unknown;
  readonly cause?: unknown;
}

/** The details of a thrown value. Does not use `instanceof`: test runners have an Error class of their own. */
export function readError(thrown: unknown): ErrorDetails {
  return typeof thrown === 'object' && thrown !== null ? thrown : {};
}
