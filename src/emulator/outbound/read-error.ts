interface ErrorDetails {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly status?: unknown;
  readonly cause?: unknown;
}

/** What a thrown value tells. Not asked with `instanceof`: test runners give a program an Error class of its own. */
export function readError(thrown: unknown): ErrorDetails {
  return typeof thrown === 'object' && thrown !== null ? thrown : {};
}
